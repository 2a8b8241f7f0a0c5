import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Optimizer } from "./optimizer.ts";

type Implementation = "foreach" | "fused" | "loop";

/**
 * torch.optim.AdamW. State is two tensors like the parameter, in the parameter's type; the fused kernel also
 * keeps its step counter on the card (adam.py `_init_group`). The foreach step holds √v of every parameter at
 * once; the loop one at a time; the fused kernel nothing.
 */
export function adamw(implementation: Implementation): Optimizer {
  const known = new Set<Tensor>();
  const like = (torch: Torch, p: Tensor): Tensor =>
    torch.empty(p.shape, p.dtype, Kind.temporary, [...p.strides]);
  return {
    step(torch, parameters) {
      for (const p of parameters) {
        if (known.has(p)) continue;
        known.add(p);
        if (implementation === "fused") torch.empty([], "fp32", Kind["optimizer state"]);
        for (let i = 0; i < 2; i++) torch.empty(p.shape, p.dtype, Kind["optimizer state"], [...p.strides]);
      }
      if (implementation === "foreach") {
        const roots = parameters.map((p) => like(torch, p));
        for (const root of roots.reverse()) torch.consume(root);
      } else if (implementation === "loop") {
        // `denom = (exp_avg_sq.sqrt() / …)` keeps its last value until the next parameter's is computed.
        let last: Tensor | null = null;
        for (const p of parameters) {
          const root = like(torch, p);
          const denominator = like(torch, p);
          torch.consume(root);
          torch.consume(last);
          last = denominator;
        }
        torch.consume(last);
      }
    },
  };
}
