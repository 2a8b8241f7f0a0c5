import type { Tensor } from "../autograd/tensor.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

/** torch.optim.SGD: updates in place; momentum keeps one copy of each gradient. */
export function sgd(momentum: boolean): Optimizer {
  const known = new Set<Tensor>();
  return {
    step(torch, parameters) {
      if (!momentum) return;
      for (const p of parameters) {
        if (known.has(p)) continue;
        known.add(p);
        torch.empty(p.shape, p.dtype, Kind["optimizer state"], [...p.strides]);
      }
    },
  };
}
