import { type Tensor, numel } from "../autograd/tensor.ts";
import type { Bytes } from "../base/units.ts";
import type { Recipe } from "./recipe.ts";

/** What a run keeps in host memory beside the process itself. */
export interface HostBudget {
  /** Copies of the trained weights and of their gradients, pinned. */
  readonly copies: Bytes;
  readonly optimizerState: Bytes;
  /** Layer inputs that wait for backward, pinned. */
  readonly activations: Bytes;
  readonly total: Bytes;
}

export interface HostVerdict {
  readonly fits: boolean;
  readonly memory: Bytes;
  readonly spare: Bytes;
}

/** torchao's CPUOffloadOptimizer leaves smaller tensors on the card; a paged state is at least so many elements. */
export const MIN_OFFLOADED = 4096;
const MIN_PAGED = 1e5;

/** Pinned blocks are rounded up to a power of two (c10's CachingHostAllocator, PowerOf2Ceil). */
const pinned = (bytes: Bytes): Bytes => (bytes <= 0 ? 0 : 2 ** Math.ceil(Math.log2(bytes)));

/** Null when nothing is offloaded. `held` is what the execution put in host memory, unrounded. */
export function hostBudget(recipe: Recipe, trainable: readonly Tensor[], held: Bytes): HostBudget | null {
  const { parallel } = recipe;
  if (parallel.offload && parallel.ranks > 1) {
    // Weights, gradients and state of every rank: the cards of one machine share its memory.
    const copies = parallel.ranks * held;
    return { copies, optimizerState: 0, activations: 0, total: copies };
  }
  let copies = 0;
  let optimizerState = 0;
  let counted = 0;
  for (const { shape, storage } of trainable) {
    const count = numel(shape);
    if (recipe.optimizerOnHost && count >= MIN_OFFLOADED) {
      copies += 2 * pinned(storage.bytes);
      optimizerState += 2 * storage.bytes;
      counted += 4 * storage.bytes;
    } else if (recipe.optimizer.startsWith("paged") && count >= MIN_PAGED) {
      optimizerState += count * (recipe.optimizer.endsWith("8bit") ? 2 : 8);
    }
  }
  const waiting = Math.max(0, held - counted);
  const { config } = recipe.model;
  const one =
    recipe.batch *
    recipe.seq *
    Number(config["hidden_size"] ?? config["n_embd"]) *
    (recipe.dtype === "fp32" ? 4 : 2);
  const activations = waiting * (pinned(one) / one);
  const total = copies + optimizerState + activations;
  return total === 0 ? null : { copies, optimizerState, activations, total };
}

export function judgeHost(budget: HostBudget, memory: Bytes): HostVerdict {
  return { fits: budget.total <= memory, memory, spare: memory - budget.total };
}
