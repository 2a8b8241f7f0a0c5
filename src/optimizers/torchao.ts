import { type Tensor, numel } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

const BLOCK = 256;
/** Smaller parameters, and those not a multiple of the block, keep states in their own type (torchao/optim/adam.py). */
const MIN_8BIT = 4096;

/**
 * torchao's AdamW8bit: codes, scales and a lookup table for each moment. Its compiled step holds both moments
 * of one parameter in fp32, and their new scales.
 */
export function torchao8bit(): Optimizer {
  const known = new Set<Tensor>();
  return {
    step(torch, parameters) {
      for (const p of parameters) {
        const count = numel(p.shape);
        const eight = count >= MIN_8BIT && count % BLOCK === 0;
        if (!known.has(p)) {
          known.add(p);
          for (let moment = 0; moment < 2; moment++) {
            if (!eight) {
              torch.empty(p.shape, p.dtype, Kind["optimizer state"]);
              continue;
            }
            for (const bytes of [count, (count / BLOCK) * 4, 256 * 4]) {
              torch.retain(torch.storage(bytes, Kind["optimizer state"]));
            }
          }
        }
        if (eight) compiledStep(torch, count);
      }
    },
  };
}

function compiledStep(torch: Torch, count: number): void {
  const made = [(count / BLOCK) * 4, (count / BLOCK) * 4, count * 4, count * 4].map((bytes) => {
    const storage = torch.storage(bytes);
    torch.retain(storage);
    return storage;
  });
  for (const storage of made.reverse()) torch.release(storage);
}
