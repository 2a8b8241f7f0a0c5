import { add, divideBy, mul, scale, shift } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { to, transpose, view } from "../autograd/views.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Linear } from "./layers.ts";
import { type LoraWeights, bottleneck } from "./adapter.ts";

/** Norm of each row of `weight + scaling · lora_weight`, without gradients: two weight-sized temporaries. */
function weightNorm(torch: Torch, weight: Tensor, loraWeight: Tensor): Tensor {
  return torch.frame(() => {
    const sum = torch.let(add(torch, weight, scale(torch, loraWeight)));
    const norm = torch.empty([sum.shape[0]!], sum.dtype);
    return norm;
  });
}

/** DoraLinearLayer.update_layer: the magnitude starts as the norm of the merged weight. */
export function doraMagnitude(torch: Torch, layer: Linear, weights: LoraWeights): Tensor {
  return torch.noGrad(() =>
    torch.frame(() => {
      const product = torch.let(torch.empty([layer.outputs, layer.inputs], weights.a.dtype));
      torch.useCublas();
      const norm = weightNorm(torch, layer.weight, product);
      torch.classify(norm.storage, Kind.adapter);
      return norm;
    }),
  );
}

/**
 * DoraLinearLayer.forward: the adapter's full weight is built by pushing an identity matrix through it, and the
 * base weight is cast to the input's type, each time.
 */
export function doraForward(
  torch: Torch,
  layer: Linear,
  weights: LoraWeights,
  x: Tensor,
  result: Tensor,
): Tensor {
  const extra = torch.module("lora_magnitude_vector", [x], () => {
    const identity = torch.let(torch.empty([layer.inputs, layer.inputs], weights.a.dtype));
    let loraWeight = torch.let(transpose(torch, bottleneck(torch, weights, identity), 0, 1));
    torch.drop(identity);
    loraWeight = torch.set(loraWeight, to(torch, loraWeight, x.dtype));
    const weight = torch.let(to(torch, layer.weight, x.dtype));
    const norm = torch.let(torch.noGrad(() => weightNorm(torch, weight, loraWeight)));
    const ratio = torch.let(view(torch, divideBy(torch, weights.magnitude!, norm), [1, -1]));
    const loraResult = torch.let(bottleneck(torch, weights, x));
    const base = mul(torch, shift(torch, ratio), result);
    return add(torch, base, scale(torch, mul(torch, ratio, loraResult)));
  });
  return add(torch, result, extra);
}
