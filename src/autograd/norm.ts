import { to } from "./views.ts";
import { type Tensor, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** `F.layer_norm`: keeps its input and two fp32 numbers a row. On autocast's fp32 list. */
export function layerNorm(torch: Torch, x0: Tensor, weight: Tensor | null, bias: Tensor | null): Tensor {
  const x = torch.autocast ? to(torch, x0, "fp32") : x0;
  const rows = numel(x.shape) / x.shape[x.shape.length - 1]!;
  const out = torch.empty(x.shape, x.dtype);
  const mean = torch.empty([rows], "fp32");
  const rstd = torch.empty([rows], "fp32");
  if (torch.tracks([x, weight, bias])) {
    const saved = torch.save([x, mean, rstd, ...(weight ? [weight] : [])]);
    torch.record("NativeLayerNormBackward", [out], [x, weight, bias], saved, (_g, needs) => {
      const dx = needs[0] ? torch.empty(x.shape, x.dtype) : null;
      const dw = needs[1] && weight ? torch.empty(weight.shape, weight.dtype) : null;
      const db = needs[2] && bias ? torch.empty(bias.shape, bias.dtype) : null;
      return [dx, dw, db];
    });
  }
  torch.consume(mean);
  torch.consume(rstd);
  torch.consume(x);
  return out;
}
