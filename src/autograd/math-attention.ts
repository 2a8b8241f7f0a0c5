import type { Dtype } from "./dtype.ts";
import { matmul } from "./matmul.ts";
import { addInPlace, dropout, scale, softmax } from "./pointwise.ts";
import type { Tensor } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { repeatInterleave } from "./repeat-kv.ts";
import { to, transpose } from "./views.ts";

/** `torch.where(allowed, 0, -inf)` in the query's type; the two numbers are tensors for a moment. */
export function additiveMask(torch: Torch, allowed: Tensor, dtype: Dtype): Tensor {
  if (allowed.dtype !== "bool") return allowed;
  const lowest = torch.empty([], dtype);
  const zero = torch.empty([], dtype);
  const mask = torch.empty(allowed.shape, dtype);
  torch.consume(zero);
  torch.consume(lowest);
  torch.consume(allowed);
  return mask;
}

function causal(torch: Torch, queries: number, keys: number, dtype: Dtype): Tensor {
  const ones = torch.empty([queries, keys], "bool");
  const lower = torch.empty([queries, keys], "bool");
  torch.consume(ones);
  return additiveMask(torch, lower, dtype);
}

/** `_safe_softmax`: looks for rows that are masked whole, and zeroes them in place. */
function safeSoftmax(torch: Torch, scores: Tensor): Tensor {
  const out = softmax(torch, scores, null);
  const masked = torch.empty(scores.shape, "bool");
  const rows = torch.empty([...scores.shape.slice(0, -1), 1], "bool");
  const zero = torch.empty([], scores.dtype);
  for (const t of [zero, rows, masked]) torch.consume(t);
  return out;
}

/**
 * `_scaled_dot_product_attention_math`: attention as separate operations, in fp32 whatever the inputs are.
 * Its weights are also returned in the inputs' type, and dropped by the caller.
 */
export function mathAttention(
  torch: Torch,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  mask: Tensor | null,
  p: number,
): Tensor {
  const autocast = torch.autocast;
  torch.autocast = null;
  const result = torch.frame(() => {
    const [wideQ, wideK, wideV] = [q, k, v].map((t) => torch.let(to(torch, t, "fp32"))) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    const query = torch.let(scale(torch, wideQ));
    const bias = torch.let(mask ?? causal(torch, q.shape[2]!, k.shape[2]!, "fp32"));
    const repeats = q.shape[1]! / k.shape[1]!;
    const key = torch.let(repeatInterleave(torch, wideK, repeats));
    const value = torch.let(repeatInterleave(torch, wideV, repeats));
    let weights = torch.let(matmul(torch, query, scale(torch, transpose(torch, key, -2, -1))));
    weights = torch.set(weights, addInPlace(torch, weights, bias));
    weights = torch.set(weights, safeSoftmax(torch, weights));
    weights = torch.set(weights, dropout(torch, weights, p));
    if (q.dtype !== "fp32") torch.let(to(torch, weights, q.dtype));
    return to(torch, matmul(torch, weights, value), q.dtype);
  });
  torch.autocast = autocast;
  return result;
}
