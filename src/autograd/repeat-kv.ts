import type { Tensor } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { expand, unsqueeze, view } from "./views.ts";

/** transformers' `repeat_kv`: itself where every head has its own key, a view where all share one. */
export function repeatKv(torch: Torch, x: Tensor, repeats: number): Tensor {
  if (repeats === 1) return x;
  const [batch, heads, length, size] = x.shape as [number, number, number, number];
  if (heads > 1) return repeatInterleave(torch, x, repeats);
  const grown = expand(torch, unsqueeze(torch, x, 2), [batch, 1, repeats, length, size]);
  return view(torch, grown, [batch, repeats, length, size]);
}

/** SDPA's `repeat_interleave` of grouped keys: a copy a query head. */
export function repeatInterleave(torch: Torch, x: Tensor, repeats: number): Tensor {
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
