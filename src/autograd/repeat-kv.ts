import type { Tensor } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** transformers' `repeat_kv` and `repeat_interleave`: a copy a query head, unless every head has its own key. */
export function repeatKv(torch: Torch, x: Tensor, repeats: number): Tensor {
  if (repeats === 1) return x;
  const [batch, heads, length, size] = x.shape as [number, number, number, number];
  const out = torch.empty([batch, heads * repeats, length, size], x.dtype);
  if (torch.tracks([x])) {
    // reshape of the expanded view is a clone; its gradient is summed over the repeats.
    torch.record("RepeatBackward", [out], [x], [], ([g]) => [torch.empty(x.shape, g!.dtype)]);
  }
  torch.consume(x);
  return out;
}
