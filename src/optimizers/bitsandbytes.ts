import { type Tensor, numel } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

/** Elements that share one scale in an 8-bit state (bitsandbytes/optim/optimizer.py). */
const BLOCK = 256;
/** Tensors smaller than this keep their state in fp32 (`min_8bit_size`). */
const MIN_8BIT = 4096;
/** A paged optimizer puts states of at least this many elements in managed memory, outside PyTorch's allocator. */
const MIN_PAGED = 1e5;

export interface BitsAndBytesOptions {
  /** Adam keeps two moments, Lion one. */
  readonly moments: 1 | 2;
  readonly bits: 8 | 32;
  readonly paged: boolean;
}

/**
 * bitsandbytes' optimizers: states made at the first step, updated in place by one kernel a parameter. `wide` are
 * the parameters told to keep 32-bit states.
 */
export function bitsandbytes(
  { moments, bits, paged }: BitsAndBytesOptions,
  wide: ReadonlySet<Tensor> = new Set(),
): Optimizer {
  const known = new Set<Tensor>();
  let mapped = false;
  return {
    step(torch, parameters) {
      for (const p of parameters) {
        if (known.has(p)) continue;
        known.add(p);
        const count = numel(p.shape);
        const eight = bits === 8 && count >= MIN_8BIT && !wide.has(p);
        if (eight && !mapped) {
          mapped = true;
          for (let i = 0; i < moments; i++) state(torch, 256 * 4);
        }
        if (!(paged && count >= MIN_PAGED))
          for (let i = 0; i < moments; i++) state(torch, count * (eight ? 1 : 4));
        if (eight) for (let i = 0; i < moments; i++) state(torch, Math.ceil(count / BLOCK) * 4);
      }
    },
  };
}

function state(torch: Torch, bytes: number): void {
  torch.retain(torch.storage(bytes, Kind["optimizer state"]));
}
