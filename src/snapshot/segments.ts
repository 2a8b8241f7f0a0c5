import { UserError } from "../base/errors.ts";
import type { Heap } from "./heap.ts";
import { BLOCK, type Records } from "./records.ts";

/** The final state of a device: what the allocator held when the snapshot was taken. Sorted as in the file. */
export interface SegmentColumns {
  readonly length: number;
  readonly address: Float64Array;
  readonly bytes: Float64Array;
  readonly allocated: Float64Array;
  readonly active: Float64Array;
  readonly requested: Float64Array;
  /** Raw stream handle. */
  readonly stream: Float64Array;
  /** 1 for the pool of large blocks, 0 for small. */
  readonly large: Uint8Array;
  /** segment_pool_id: (0, 0) is the default pool, others belong to CUDA graphs or user pools. */
  readonly poolOwner: Float64Array;
  readonly poolId: Float64Array;
  readonly expandable: Uint8Array;
  /** Id in the tape's `stacks`: who made the allocator ask the driver. */
  readonly stack: Int32Array;
  /** Blocks of segment i are rows firstBlock[i] to firstBlock[i + 1] of `blocks`. */
  readonly firstBlock: Int32Array;
  readonly blocks: BlockColumns;
}

export interface BlockColumns {
  readonly length: number;
  readonly address: Float64Array;
  readonly bytes: Float64Array;
  readonly requested: Float64Array;
  /** Code of BLOCK_STATES. */
  readonly state: Uint8Array;
  /** Id in the tape's `stacks`. */
  readonly stack: Int32Array;
}

/** `rows` are rows of `records.segments`. The stacks are the file's; `relabelStacks` makes them the tape's. */
export function segmentColumns(records: Records, heap: Heap, rows: readonly number[]): SegmentColumns {
  const { segments } = records;
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => segments.get(row, at));
  const firstBlock = new Int32Array(rows.length + 1);
  rows.forEach((row, at) => {
    const list = segments.get(row, 12);
    firstBlock[at + 1] = firstBlock[at]! + (heap.isSealed(list) ? 0 : heap.items(list).length);
    if (firstBlock[at + 1]! > 1 << 28) throw new UserError("more than 268 million blocks");
  });
  const count = firstBlock[rows.length]!;
  const blocks = {
    length: count,
    address: new Float64Array(count),
    bytes: new Float64Array(count),
    requested: new Float64Array(count),
    state: new Uint8Array(count),
    stack: new Int32Array(count),
  };
  rows.forEach((row, at) => {
    // Up to torch 2.0 a block has no address: they lie one behind the other.
    let next = segments.get(row, 1);
    const list = segments.get(row, 12);
    if (heap.isSealed(list)) return;
    heap.items(list).forEach((ref, i) => {
      const body = records.record(ref);
      if ((body & 7) !== BLOCK) throw new UserError("a segment's blocks hold something that is not a block");
      const block = body >> 3;
      const to = firstBlock[at]! + i;
      const address = records.blocks.get(block, 0);
      blocks.address[to] = Number.isNaN(address) ? next : address;
      blocks.bytes[to] = records.blocks.get(block, 1);
      blocks.requested[to] = records.blocks.get(block, 2);
      blocks.state[to] = records.blocks.get(block, 3);
      blocks.stack[to] = records.blocks.get(block, 4);
      next = blocks.address[to]! + blocks.bytes[to]!;
    });
  });
  return {
    length: rows.length,
    address: column(1),
    bytes: column(2),
    allocated: column(3),
    active: column(4),
    requested: column(5),
    stream: Float64Array.from(rows, (row) => records.streams[segments.get(row, 6)]!),
    large: Uint8Array.from(rows, (row) => segments.get(row, 7)),
    poolOwner: column(8),
    poolId: column(9),
    expandable: Uint8Array.from(rows, (row) => segments.get(row, 10)),
    stack: Int32Array.from(rows, (row) => segments.get(row, 11)),
    firstBlock,
    blocks,
  };
}

export function relabelStacks(segments: SegmentColumns, stackId: (stack: number) => number): void {
  for (let i = 0; i < segments.length; i++) segments.stack[i] = stackId(segments.stack[i]!);
  for (let i = 0; i < segments.blocks.length; i++)
    segments.blocks.stack[i] = stackId(segments.blocks.stack[i]!);
}
