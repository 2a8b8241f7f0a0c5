import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { UserError } from "../base/errors.ts";
import { EXPANSION_FREE_BYTES, MAX_EXPANSION } from "./limits.ts";
import { type Snapshot, SnapshotReader } from "./snapshot.ts";

const CHUNK = 1 << 18;

/** Reads a snapshot, plain or gzip, without ever holding the file. */
export async function readSnapshotFile(path: string): Promise<Snapshot> {
  try {
    const reader = new SnapshotReader();
    await feed(path, reader);
    return reader.finish();
  } catch (error) {
    throw explained(path, error);
  }
}

async function feed(path: string, reader: SnapshotReader): Promise<void> {
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    let { bytesRead } = await file.read(buffer, 0, CHUNK, 0);
    if (bytesRead >= 2 && buffer[0] === 0x1f && buffer[1] === 0x8b) return await feedGzip(path, reader);
    for (let at = 0; bytesRead > 0 && !reader.done;) {
      reader.push(buffer.subarray(0, bytesRead));
      at += bytesRead;
      ({ bytesRead } = await file.read(buffer, 0, CHUNK, at));
    }
  } finally {
    await file.close();
  }
}

async function feedGzip(path: string, reader: SnapshotReader): Promise<void> {
  const source = createReadStream(path, { highWaterMark: CHUNK });
  const gunzip = createGunzip({ chunkSize: CHUNK });
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let total = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      total += chunk.length;
      reader.push(chunk);
      if (reader.done) break;
      if (total > EXPANSION_FREE_BYTES && total > MAX_EXPANSION * gunzip.bytesWritten) {
        throw new UserError(
          `the gzip data expands more than ${MAX_EXPANSION}-fold (${total} bytes so far)`,
          "snapshots shrink about 10-fold; this file is not one",
        );
      }
    }
  } finally {
    source.destroy();
  }
}

function explained(path: string, error: unknown): unknown {
  if (error instanceof UserError) return new UserError(`${path}: ${error.message}`, error.hint);
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new UserError(`${path}: no such file`);
  if (code === "EISDIR") return new UserError(`${path}: is a directory`);
  if (code === "EACCES") return new UserError(`${path}: may not be read`);
  if (code === "Z_BUF_ERROR")
    return new UserError(`${path}: the gzip data ends too early`, "copy the file again");
  if (code?.startsWith("Z_"))
    return new UserError(`${path}: damaged gzip data (${message})`, "copy the file again");
  return error;
}
