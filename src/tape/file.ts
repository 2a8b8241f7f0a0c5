import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { UserError } from "../base/errors.ts";
import { decodeTape, encodeTape } from "./arrow.ts";
import type { Tape } from "./tape.ts";

/** The tape's door to the disk: the one file of this floor that touches it. */

export async function readTapeFile(path: string): Promise<Tape> {
  return decodeTape(await failing(path, "read", () => readFile(path)), path);
}

export async function writeTapeFile(path: string, tape: Tape): Promise<void> {
  await writeWhole(path, encodeTape(tape));
}

/** Whole or not at all: a crash or a full disk leaves the old file as it was. */
export async function writeWhole(path: string, content: Uint8Array | string): Promise<void> {
  if (path === "") throw new UserError("a file to write has no name");
  const there = await stat(path).catch(() => null);
  if (there?.isDirectory()) throw new UserError(`cannot write ${path}: it is a folder`);
  // A device or a pipe (/dev/stdout) is written to: a rename would put a file in its place.
  if (there && !there.isFile()) return failing(path, "write", () => writeFile(path, content));
  // In the same folder, because a rename is atomic only within one file system.
  const partial = `${path}.${process.pid}.partial`;
  await failing(path, "write", async () => {
    try {
      const file = await open(partial, "wx");
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (cause) {
      await rm(partial, { force: true });
      throw cause;
    }
  });
}

async function failing<T>(path: string, verb: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Error && "code" in cause)
      // The rest of a system's message names the call and the partial file.
      throw new UserError(`cannot ${verb} ${path}: ${cause.message.split(", ")[0]}`);
    throw cause;
  }
}
