import { open, readFile, rename, rm } from "node:fs/promises";
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
      throw new UserError(`cannot ${verb} ${path}: ${cause.message}`);
    throw cause;
  }
}
