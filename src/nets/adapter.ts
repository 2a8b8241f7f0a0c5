import { linear } from "../autograd/matmul.ts";
import { add, mul, scale, tanh, unary } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { slice } from "../autograd/views.ts";

export interface Fourier {
  readonly coefficients: Tensor;
  readonly sigma: Tensor;
}

/** One adapted layer: two thin matrices, and what a variant adds. */
export interface LoraWeights {
  a: Tensor;
  b: Tensor;
  /** DoRA's length of each row. */
  magnitude: Tensor | null;
  /** Four coefficients and a width: a learned non-linearity on the bottleneck. */
  fourier: Fourier | null;
}

/** `lora_B(φ(lora_A(x)))`, each a module call; φ is the identity unless it is learned. */
export function bottleneck(torch: Torch, weights: LoraWeights, x: Tensor): Tensor {
  let down = torch.module("lora_A", [x], () => linear(torch, x, weights.a, null));
  if (weights.fourier) down = fourier(torch, down, weights.fourier);
  const narrow = down;
  return torch.module("lora_B", [narrow], () => linear(torch, narrow, weights.b, null));
}

/**
 * φ(z) = a₀ + a₁x + a₂ sin πx + a₃ cos πx over x = tanh(z / σ). The division is written as a product: it saves
 * the same two tensors and its gradients have the same sizes.
 */
function fourier(torch: Torch, z: Tensor, weights: Fourier): Tensor {
  return torch.frame(() => {
    const a = (i: number): Tensor => slice(torch, weights.coefficients, 0, i, i + 1);
    const x = torch.let(tanh(torch, mul(torch, z, weights.sigma)));
    const wave = (i: number): Tensor =>
      mul(torch, a(i), unary(torch, "SinBackward", scale(torch, x), "input"));
    const linearPart = add(torch, a(0), mul(torch, a(1), x));
    return add(torch, add(torch, linearPart, wave(2)), wave(3));
  });
}
