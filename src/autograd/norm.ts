import { to } from "./views.ts";
import { type Tensor, isContiguous, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** The kernel's own contiguous copy of a strided tensor (expect_contiguous), or null. */
function straightened(torch: Torch, t: Tensor): Tensor | null {
  return isContiguous(t) ? null : torch.empty(t.shape, t.dtype);
}

/** `F.layer_norm`: keeps its input and two fp32 numbers a row. On autocast's fp32 list. */
export function layerNorm(torch: Torch, x0: Tensor, weight: Tensor | null, bias: Tensor | null): Tensor {
  const x = torch.autocast ? to(torch, x0, "fp32") : x0;
  const rows = numel(x.shape) / x.shape[x.shape.length - 1]!;
  const straight = straightened(torch, x);
  const out = torch.empty(x.shape, x.dtype);
  const mean = torch.empty([rows], "fp32");
  const rstd = torch.empty([rows], "fp32");
  if (torch.tracks([x, weight, bias])) {
    const saved = torch.save([x, mean, rstd, ...(weight ? [weight] : [])]);
    torch.record("NativeLayerNormBackward", [out], [x, weight, bias], saved, ([g], needs) => {
      const copy = straightened(torch, x);
      const dx = needs[0] ? torch.empty(x.shape, x.dtype) : null;
      const dw = needs[1] && weight ? torch.empty(weight.shape, weight.dtype) : null;
      const db = needs[2] && bias ? torch.empty(bias.shape, bias.dtype) : null;
      torch.consume(straightened(torch, g!));
      torch.consume(copy);
      return [dx, dw, db];
    });
  }
  torch.consume(straight);
  torch.consume(mean);
  torch.consume(rstd);
  torch.consume(x);
  return out;
}
