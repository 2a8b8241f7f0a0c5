import { assert } from "../base/errors.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { Action, Kind } from "../tape/vocabulary.ts";

/**
 * A forward and backward that has been executed once. Training repeats itself: the next one allocates and
 * frees the same bytes in the same order, so its rows are copied instead of computed. What outlives it are
 * gradients, and workspaces that a library keeps for good (those are not taken twice).
 */
export interface Block {
  /** Row ranges to copy, in order. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  /** The part of the run's arithmetic that is the block's. */
  readonly work: readonly [from: number, to: number];
  readonly firstStorage: number;
  readonly storages: number;
  /** Gradients that the block created: the leaf and the storage. */
  readonly gradients: readonly { readonly leaf: Tensor; readonly storage: number; readonly row: number }[];
}

/** Runs `body` and remembers its rows. */
export function recordBlock(torch: Torch, leaves: readonly Tensor[], body: () => void): Block {
  const { tape } = torch;
  const before = new Set(leaves.filter((p) => p.grad));
  const firstRow = tape.length;
  const firstWork = torch.work.length;
  const firstStorage = torch.nextStorage();
  body();
  const storages = torch.nextStorage() - firstStorage;
  const gradients = leaves.flatMap((leaf) =>
    leaf.grad && !before.has(leaf)
      ? [{ leaf, storage: leaf.grad.storage.id, row: leaf.grad.storage.row }]
      : [],
  );

  const { action, storage, kind } = tape.columns;
  // Row at which each of the block's storages was born; -1 once it is freed.
  const born = new Int32Array(storages + 1).fill(-1);
  for (let row = firstRow; row < tape.length; row++) {
    const own = storage[row]! - firstStorage;
    const alive = own >= 0 && own <= storages && born[own]! >= 0;
    if (action[row] === Action.alloc) born[own] = row;
    else assert(alive, "a repeated block frees something from before it");
    if (action[row] !== Action.alloc) born[own] = -1;
  }
  for (const gradient of gradients) born[gradient.storage - firstStorage] = -1;
  const ranges: [number, number][] = [];
  let from = firstRow;
  for (const row of born.filter((row) => row >= 0).sort()) {
    assert(kind[row] === Kind.workspace, "a repeated block keeps something alive that is not a gradient");
    if (row > from) ranges.push([from, row]);
    from = row + 1;
  }
  ranges.push([from, tape.length]);
  return { ranges, work: [firstWork, torch.work.length], firstStorage, storages, gradients };
}

/** Appends the block's rows again, on fresh storages, for the present step. */
export function repeatBlock(torch: Torch, block: Block): void {
  const { tape } = torch;
  const shift = torch.reserveStorages(block.storages) - block.firstStorage;
  const moved: { from: number; to: number; by: number }[] = [];
  for (const [from, to] of block.ranges) {
    moved.push({ from, to, by: tape.length - from });
    tape.repeat(from, to, shift, torch.step);
  }
  for (const { leaf, storage, row } of block.gradients) {
    const { by } = moved.find((m) => row >= m.from && row < m.to)!;
    leaf.grad = torch.adopt(leaf, {
      id: storage + shift,
      bytes: tape.columns.bytes[row]!,
      row: row + by,
      refs: 0,
    });
  }
}
