import { linear } from "../autograd/matmul.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";

/** One adapted layer: two thin matrices, and DoRA's magnitudes. */
export interface LoraWeights {
  a: Tensor;
  b: Tensor;
  magnitude: Tensor | null;
}

/** `lora_B(lora_A(x))`, each a module call. */
export function bottleneck(torch: Torch, weights: LoraWeights, x: Tensor): Tensor {
  const down = torch.module("lora_A", [x], () => linear(torch, x, weights.a, null));
  return torch.module("lora_B", [down], () => linear(torch, down, weights.b, null));
}
