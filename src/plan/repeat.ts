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
  readonly from: number;
  readonly to: number;
  /** Gradients that the block created, by the storage it gave them. */
  readonly gradients: ReadonlyMap<number, Tensor>;
}

/** Runs `body` and remembers its rows. */
export function recordBlock(torch: Torch, leaves: readonly Tensor[], body: () => void): Block {
  const before = new Set(leaves.filter((p) => p.grad));
  const from = torch.tape.length;
  body();
  const gradients = new Map<number, Tensor>();
  for (const leaf of leaves) if (leaf.grad && !before.has(leaf)) gradients.set(leaf.grad.storage.id, leaf);
  return { from, to: torch.tape.length, gradients };
}

/** Appends the block's rows again, on fresh storages, for the present step. */
export function repeatBlock(torch: Torch, block: Block): void {
  const { tape } = torch;
  const freed = new Set<number>();
  for (let row = block.from; row < block.to; row++) {
    if (tape.columns.action[row] === Action.free) freed.add(tape.columns.storage[row]!);
  }
  const ids = new Map<number, number>();
  for (let row = block.from; row < block.to; row++) {
    // An append may replace the columns by longer ones: read them anew each time.
    const c = tape.columns;
    const old = c.storage[row]!;
    const kind = c.kind[row]!;
    const action = c.action[row]!;
    if (action === Action.alloc) {
      const leaf = block.gradients.get(old);
      if (kind === Kind.workspace && !freed.has(old)) continue;
      assert(leaf || freed.has(old), "a repeated block keeps something alive that is not a gradient");
      const id = torch.nextStorage();
      ids.set(old, id);
      const at = tape.append(action, id, c.bytes[row]!, 0, c.phase[row]!, kind, c.module[row]!, torch.step);
      if (leaf) leaf.grad = torch.adopt(leaf, { id, bytes: c.bytes[row]!, row: at, refs: 0 });
    } else {
      const id = ids.get(old);
      assert(id !== undefined, "a repeated block frees something from before it");
      tape.append(action, id, c.bytes[row]!, 0, c.phase[row]!, kind, c.module[row]!, torch.step);
    }
  }
}
