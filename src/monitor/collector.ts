import { createHash, timingSafeEqual } from "node:crypto";
import { appendFileSync, existsSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";

/** The name a probe gives its record; nothing else is written. */
const RECORD = /^\/v1\/records\/(rank-\d+-[A-Za-z0-9._-]{1,255}-\d+\.jsonl)$/;
/** Four times what a probe sends in one request. */
const LARGEST = 4 << 20;
/** Ranks of the largest runs we know of, restarts included. */
const MOST_FILES = 65_536;

export interface Collector {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Takes the records of ranks on other nodes and appends them to the run folder, where everything else finds them.
 * `listen` is HOST:PORT. A token is required unless the host is this machine's own loopback.
 */
export async function collect(folder: string, listen: string, token: string): Promise<Collector> {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(listen) ?? [];
  if (port === "") throw new UserError(`--listen takes HOST:PORT, not "${listen}"`);
  const loopback = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (!loopback && token === "")
    throw new UserError(
      `--listen ${listen} can be reached from other machines and needs a token`,
      "hint: set PLIMSOLL_TOKEN to the same secret on every node",
    );
  const sizes = new Map<string, number>();
  const server = createServer((request, response) => void answer(request, response, folder, token, sizes));
  await listening(server, host, Number(port));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new UserError(`cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  folder: string,
  token: string,
  sizes: Map<string, number>,
): Promise<void> {
  const end = (status: number, text: string): void => void response.writeHead(status).end(text);
  const url = new URL(request.url ?? "/", "http://collector");
  const name = RECORD.exec(url.pathname)?.[1];
  if (!same(request.headers.authorization ?? "", `Bearer ${token}`)) return end(401, "wrong token\n");
  if (request.method !== "POST" || !name) return end(404, "not a record\n");
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > LARGEST) return end(413, "too large\n");
    }
    const file = join(folder, name);
    const known = sizes.get(name);
    if (known === undefined && sizes.size >= MOST_FILES) return end(429, "too many records\n");
    const size = known ?? (existsSync(file) ? statSync(file).size : 0);
    const offset = Number(url.searchParams.get("offset"));
    // Anything but the next byte is answered with where we are: the sender goes on from there.
    if (offset === size && length > 0) appendFileSync(file, Buffer.concat(chunks));
    sizes.set(name, offset === size ? size + length : size);
    end(200, String(sizes.get(name)));
  } catch {
    // The sender left halfway, or our disk is full: it will try again.
    if (!response.headersSent) end(503, "not taken\n");
  }
}

function same(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
