import { Tape } from "../tape/tape.ts";
import { Action } from "../tape/vocabulary.ts";
import { BLOCK_STATES } from "./records.ts";
import type { SegmentColumns } from "./segments.ts";
import type { PlacedTape } from "./write.ts";

/** Blocks start at multiples of this (kMinBlockSize in c10/core/CachingDeviceAllocator.h). */
const ALIGNMENT = 512;
/** Where made-up addresses begin; no real one is so low. */
const ORIGIN = 2 ** 32;

/**
 * Gives a tape without addresses a place for every storage, as an allocator without a cache would: each a segment of
 * its own, given back with it. Right for looking at allocated bytes; where reserved bytes matter, write the tape and
 * segments of an allocator simulation instead.
 */
export function placeApart(source: Tape): PlacedTape {
  const tape = new Tape(source.info, source.length * 2 + 1);
  for (const text of source.modules.texts) tape.modules.id(text);
  for (const text of source.stacks.texts) tape.stacks.id(text);
  for (const handle of source.streams) tape.streamIndex(handle);
  const { action, storage, bytes, stream, phase, kind, module, step, stack, time } = source.columns;
  /** Storages not yet reusable: place, size, row of the alloc on the new tape, and whether the free was requested. */
  const live = new Map<number, { address: number; size: number; row: number; pending: boolean }>();
  let next = ORIGIN;
  for (let row = 0; row < source.length; row++) {
    const code = action[row]!;
    const id = storage[row]!;
    const segment = (change: number, size: number, address: number): number =>
      tape.append(change, -1, size, stream[row], phase[row], 0, 0, step[row], 0, address, time[row]);
    if (code >= Action.segment_alloc && code <= Action.segment_unmap) continue;
    if (code === Action.alloc) {
      const size = Math.max(1, Math.ceil(bytes[row]! / ALIGNMENT)) * ALIGNMENT;
      segment(Action.segment_alloc, size, next);
      live.set(id, { address: next, size, row: tape.length, pending: false });
      next += size;
    }
    const found = live.get(id);
    const address = found?.address ?? 0;
    tape.append(
      code,
      id,
      bytes[row]!,
      stream[row],
      phase[row],
      kind[row],
      module[row],
      step[row],
      stack[row],
      address,
      time[row],
    );
    if (!found) continue;
    if (code === Action.free_requested) found.pending = true;
    if (code === Action.free || code === Action.free_completed) {
      segment(Action.segment_free, found.size, address);
      live.delete(id);
    }
  }
  const blocks = [...live.values()];
  return { device: tape.info.device, tape, segments: apart(tape, blocks) };
}

function apart(
  tape: Tape,
  blocks: readonly { address: number; size: number; row: number; pending: boolean }[],
): SegmentColumns {
  const { bytes, stream, stack } = tape.columns;
  const rows = blocks.map(({ row }) => row);
  const asked = Float64Array.from(rows, (row) => bytes[row]!);
  const size = Float64Array.from(blocks, (block) => block.size);
  const places = Float64Array.from(blocks, (block) => block.address);
  const stacks = Int32Array.from(rows, (row) => stack[row]!);
  const zeros = new Float64Array(rows.length);
  const pendingFree = BLOCK_STATES.indexOf("active_pending_free");
  return {
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
}
