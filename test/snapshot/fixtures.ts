import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Snapshot, SnapshotReader } from "../../src/snapshot/snapshot.ts";
import type { Tape } from "../../src/tape/tape.ts";
import { ACTIONS } from "../../src/tape/vocabulary.ts";

export const RECORDED = ["gpt2-frames", "gpt2-expandable", "qwen-oom"] as const;

export function fixturePath(file: string): string {
  return fileURLToPath(new URL(`../fixtures/snapshots/${file}`, import.meta.url));
}

export function fixtureBytes(file: string): Uint8Array {
  const bytes = readFileSync(fixturePath(file));
  // Not a Buffer, whose slice shares memory.
  return new Uint8Array(file.endsWith(".gz") ? gunzipSync(bytes) : bytes);
}

export function read(bytes: Uint8Array, chunk = bytes.length): Snapshot {
  const reader = new SnapshotReader();
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.slice(at, at + chunk));
  return reader.finish();
}

/** The rows of a tape as plain values, with stacks as text: equal tapes give equal rows. */
export function rows(tape: Tape): unknown[][] {
  const { action, storage, bytes, stream, stack, address, time } = tape.columns;
  return Array.from({ length: tape.length }, (_, row) => [
    ACTIONS[action[row]!],
    storage[row],
    bytes[row],
    tape.streams[stream[row]!],
    tape.stacks.text(stack[row]!),
    address[row],
    time[row],
  ]);
}

/** Allocated and reserved bytes after each row. */
export function balance(tape: Tape): { allocated: number[]; reserved: number[] } {
  const { action, bytes } = tape.columns;
  const allocated: number[] = [];
  const reserved: number[] = [];
  let [inUse, held] = [0, 0];
  for (let row = 0; row < tape.length; row++) {
    const name = ACTIONS[action[row]!];
    if (name === "alloc") inUse += bytes[row]!;
    if (name === "free" || name === "free_requested") inUse -= bytes[row]!;
    if (name === "segment_alloc" || name === "segment_map") held += bytes[row]!;
    if (name === "segment_free" || name === "segment_unmap") held -= bytes[row]!;
    allocated.push(inUse);
    reserved.push(held);
  }
  return { allocated, reserved };
}
