import { type Tensor, numel } from "../autograd/tensor.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

/** Parameters below this many elements are stepped on the card (torchao/optim/cpu_offload.py). */
const MIN_OFFLOADED = 4096;

/**
 * torchao's CPUOffloadOptimizer over AdamW: state and a copy of each parameter in host memory; gradients stay on
 * the card until zero_grad. Small parameters keep a fused AdamW on the card.
 */
export function hostOptimizer(): Optimizer {
  const known = new Set<Tensor>();
  return {
    step(torch, parameters) {
      for (const p of parameters) {
        if (known.has(p)) continue;
        known.add(p);
        const bytes = p.storage.bytes;
        if (numel(p.shape) >= MIN_OFFLOADED) {
          // Two moments, the parameter and its gradient, pinned.
          torch.host.add(4 * bytes);
          continue;
        }
        torch.empty([], "fp32", Kind["optimizer state"]);
        for (let i = 0; i < 2; i++) torch.empty(p.shape, p.dtype, Kind["optimizer state"], [...p.strides]);
      }
    },
  };
}
