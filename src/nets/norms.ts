import { meanLast, mul, pow, rsqrt, shift } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { cat, split, to } from "../autograd/views.ts";
import { type Builder, callLayerNorm, callRmsNorm } from "./layers.ts";

/** A norm module, weights made. */
export type NormModule = (torch: Torch, x: Tensor) => Tensor;

/** A family's way to normalise. */
export type NormKind = (b: Builder, name: string, width: number) => NormModule;

export const rmsNorm: NormKind = (b, name, width) => {
  const norm = b.rmsNorm(name, width);
  return (torch, x) => callRmsNorm(torch, norm, x);
};

export const layerNorm: NormKind = (b, name, width) => {
  const norm = b.layerNorm(name, width);
  return (torch, x) => callLayerNorm(torch, norm, x);
};

/** Gemma's RMSNorm: scaled by 1 + weight in fp32, cast back last. */
export const gemmaNorm: NormKind = (b, name, width) => {
  const { weight } = b.rmsNorm(name, width);
  return (torch, x) =>
    torch.module(name, [x], () => {
      let output = torch.let(unitVariance(torch, to(torch, x, "fp32")));
      output = torch.set(output, mul(torch, output, shift(torch, to(torch, weight, "fp32"))));
      return to(torch, output, x.dtype);
    });
};

function unitVariance(torch: Torch, x0: Tensor): Tensor {
  return torch.frame(() => {
    const x = torch.let(x0);
    return mul(torch, x, rsqrt(torch, shift(torch, meanLast(torch, pow(torch, x)))));
  });
}

/** OLMo 2's RMSNorm: weight and value are multiplied in fp32, then cast back. */
export const olmoNorm: NormKind = (b, name, width) => {
  const { weight } = b.rmsNorm(name, width);
  return (torch, x) =>
    torch.module(name, [x], () => {
      let hidden = torch.let(to(torch, x, "fp32"));
      const variance = torch.let(meanLast(torch, pow(torch, hidden)));
      hidden = torch.set(hidden, mul(torch, hidden, rsqrt(torch, shift(torch, variance))));
      return to(torch, mul(torch, weight, hidden), x.dtype);
    });
};

/** StableLM's norm of q or k, [batch, heads, seq, size]: a LayerNorm without bias for each head. */
export function perHeadNorm(b: Builder, name: string, heads: number, size: number): NormModule {
  const norms = b.in(name, () =>
    Array.from({ length: heads }, (_, i) => b.layerNorm(`norms.${i}`, size, false)),
  );
  return (torch, x) =>
    torch.module(name, [x], () => {
      const parts = split(torch, x, new Array<number>(heads).fill(1), 1).map((t) => torch.let(t));
      return cat(
        torch,
        parts.map((t, i) => callLayerNorm(torch, norms[i]!, t)),
        1,
      );
    });
}
