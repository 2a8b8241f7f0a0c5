import type { SdpaKernel } from "../autograd/attention.ts";
import type { Tensor } from "../autograd/tensor.ts";

/** The kernel scaled_dot_product_attention takes on compute capability 9. */
export function chooseKernel(q: Tensor): SdpaKernel {
  return q.dtype === "fp32" ? "math" : "cudnn";
}
