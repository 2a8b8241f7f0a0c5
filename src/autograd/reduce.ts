import type { Dtype } from "./dtype.ts";
import { type Tensor, contiguousStrides, isDense, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** `grad.to(dtype)` outside autograd. */
export function cast(torch: Torch, t: Tensor, dtype: Dtype): Tensor {
  return torch.empty(t.shape, dtype, undefined, isDense(t) ? [...t.strides] : contiguousStrides(t.shape));
}

/** at::sum_to: sums over broadcast dimensions; a mere reshape where nothing is summed. */
export function sumTo(torch: Torch, t: Tensor, shape: readonly number[]): Tensor {
  if (numel(t.shape) === numel(shape)) return torch.alias(t, shape, contiguousStrides(shape));
  return torch.empty(shape, t.dtype);
}
