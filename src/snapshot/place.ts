import type { Tape } from "../tape/tape.ts";
import { Action } from "../tape/vocabulary.ts";
import { BLOCK_STATES } from "./records.ts";
import type { SegmentColumns } from "./segments.ts";
import type { PlacedTape } from "./write.ts";

/** Blocks start at multiples of this (kMinBlockSize in c10/core/CachingDeviceAllocator.h). */
const ALIGNMENT = 512;
/** Where made-up addresses begin; no real one is so low. */
const ORIGIN = 2 ** 32;

/**
 * Gives a tape without addresses a place for every storage: each a segment of its own, never reused. Right for looking
 * at allocated bytes; where reserved bytes matter, take the addresses and segments of an allocator simulation instead.
 */
export function placeApart(tape: Tape): PlacedTape {
  const { action, storage, bytes, stream, stack } = tape.columns;
  const address = new Float64Array(tape.length);
  const placeOf = new Map<number, number>();
  /** Row of the alloc, and whether its free was requested. */
  const live = new Map<number, { row: number; pending: boolean }>();
  let next = ORIGIN;
  for (let row = 0; row < tape.length; row++) {
    const id = storage[row]!;
    if (action[row] === Action.alloc) {
      placeOf.set(id, next);
      next += Math.max(1, Math.ceil(bytes[row]! / ALIGNMENT)) * ALIGNMENT;
      live.set(id, { row, pending: false });
    } else if (action[row] === Action.free_requested) {
      const found = live.get(id);
      if (found) found.pending = true;
    } else if (action[row] === Action.free || action[row] === Action.free_completed) live.delete(id);
    address[row] = placeOf.get(id) ?? 0;
  }
  const blocks = [...live].map(([id, one]) => ({ ...one, address: placeOf.get(id)! }));
  const rows = blocks.map(({ row }) => row);
  const asked = Float64Array.from(rows, (row) => bytes[row]!);
  const size = asked.map((value) => Math.max(1, Math.ceil(value / ALIGNMENT)) * ALIGNMENT);
  const places = Float64Array.from(blocks, (block) => block.address);
  const stacks = Int32Array.from(rows, (row) => stack[row]!);
  const zeros = new Float64Array(rows.length);
  const pendingFree = BLOCK_STATES.indexOf("active_pending_free");
  const segments: SegmentColumns = {
    length: rows.length,
    address: places,
    bytes: size,
    allocated: size.map((value, at) => (blocks[at]!.pending ? 0 : value)),
    active: size,
    requested: asked,
    stream: Float64Array.from(rows, (row) => tape.streams[stream[row]!]!),
    large: new Uint8Array(rows.length).fill(1),
    poolOwner: zeros,
    poolId: zeros,
    expandable: new Uint8Array(rows.length),
    stack: stacks,
    firstBlock: Int32Array.from({ length: rows.length + 1 }, (_, at) => at),
    blocks: {
      length: rows.length,
      address: places,
      bytes: size,
      requested: asked,
      state: Uint8Array.from(blocks, ({ pending }) => (pending ? pendingFree : 0)),
      stack: stacks,
    },
  };
  return { device: tape.info.device, tape, address, segments };
}
