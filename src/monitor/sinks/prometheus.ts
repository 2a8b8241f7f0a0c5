import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, Gauge, Registry } from "prom-client";
import { UserError } from "../../base/errors.ts";
import { MEASURES, pointsOf, ranksOf, type Measure, type Point, type Rank } from "./measures.ts";
import type { Sink } from "./sink.ts";

export interface PrometheusSink extends Sink {
  readonly url: string;
}

/** Serves the run at http://HOST:PORT/metrics until it ends. `at` is PORT or HOST:PORT; without a host, loopback. */
export async function servePrometheus(
  at: string,
  run: { readonly name: string; readonly version: string },
): Promise<PrometheusSink> {
  const [, host = "127.0.0.1", port = ""] = /^(?:(.+):)?(\d+)$/.exec(at) ?? [];
  if (port === "" || Number(port) > 65_535)
    throw new UserError(`--prometheus takes PORT or HOST:PORT, not "${at}"`);
  let ranks: readonly Rank[] = [];
  const registry = describe(() => ranks, run);
  const server = createServer((request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return void response.writeHead(405).end();
    if (request.url?.split("?")[0] !== "/metrics") return void response.writeHead(404).end("see /metrics\n");
    registry.metrics().then(
      (text) => response.setHeader("content-type", registry.contentType).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listening(server, host.replaceAll(/^\[|\]$/g, ""), Number(port));
  const { port: chosen } = server.address() as AddressInfo;
  return {
    name: "prometheus",
    url: `http://${host}:${chosen}/metrics`,
    take: (live) => void (ranks = ranksOf(live)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(null));
        server.closeAllConnections();
      }),
  };
}

function describe(ranks: () => readonly Rank[], run: { name: string; version: string }): Registry {
  const registry = new Registry();
  const info = new Gauge({
    name: "plimsoll_run_info",
    help: "The run that is watched.",
    labelNames: ["run", "version"],
    registers: [],
  });
  info.set({ run: run.name, version: run.version }, 1);
  registry.registerMetric(info);
  for (const measure of MEASURES) publish(registry, measure, ranks);
  return registry;
}

/** The values are those of the moment of the scrape, so a rank that is gone leaves nothing behind. */
function publish(registry: Registry, measure: Measure, ranks: () => readonly Rank[]): void {
  const { prometheus: name, help } = measure;
  const configuration = { name, help, labelNames: ["rank", "host", "phase"], registers: [] };
  if (measure.kind === "counter") {
    const counter = new Counter({
      ...configuration,
      collect() {
        this.reset();
        for (const point of pointsOf(measure, ranks())) this.inc(labels(point), point.value);
      },
    });
    registry.registerMetric(counter);
    return;
  }
  const gauge = new Gauge({
    ...configuration,
    collect() {
      this.reset();
      for (const point of pointsOf(measure, ranks())) this.set(labels(point), point.value);
    },
  });
  registry.registerMetric(gauge);
}

function labels({ rank: { head }, phase }: Point): { [name: string]: string } {
  return { rank: String(head.rank), host: head.host, ...(phase ? { phase } : {}) };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new UserError(
          `--prometheus cannot listen on ${host}:${port}: ${error.message}`,
          "hint: choose another port",
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}
