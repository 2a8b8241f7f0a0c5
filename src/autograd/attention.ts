import { cudnnAttention, efficientAttention, flashAttention, paddedMask } from "./fused-attention.ts";
import { additiveMask, mathAttention } from "./math-attention.ts";
import { matmul, lowered } from "./matmul.ts";
import { dropout, scale, softmax, tanh } from "./pointwise.ts";
import { repeatKv } from "./repeat-kv.ts";
import { type Tensor, contiguousStrides } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { contiguous, transpose } from "./views.ts";

/** Which kernel scaled_dot_product_attention picks. */
export type SdpaKernel = "cudnn" | "flash" | "efficient" | "math";

export interface SdpaOptions {
  readonly kernel: (q: Tensor, k: Tensor, masked: boolean) => SdpaKernel;
  /** What may attend to what; null for causal. */
  readonly mask: Tensor | null;
  readonly dropout: number;
}

/**
 * The kernel scaled_dot_product_attention picks on a card (sdp_utils.cpp): cuDNN first on compute capability 9
 * and 10, then FlashAttention, the memory-efficient kernel, and separate operations when no kernel can.
 */
export function chooseKernel(capability: number, q: Tensor, k: Tensor, masked: boolean): SdpaKernel {
  const size = q.shape[3]!;
  const half = q.dtype === "bf16" || q.dtype === "fp16";
  const generation = Math.floor(capability);
  if (half && (generation === 9 || generation === 10) && size % 8 === 0 && size <= 256) return "cudnn";
  if (half && capability >= 8 && size <= 256 && !masked) return "flash";
  const grouped = q.shape[1] !== k.shape[1];
  const aligned = size % (half ? 8 : 4) === 0;
  if (!grouped && aligned && (q.dtype !== "bf16" || capability >= 8)) return "efficient";
  return "math";
}

/**
 * `F.scaled_dot_product_attention` over [batch, heads, sequence, head size]; grouped keys allowed. Without a
 * mask it is causal.
 */
export function sdpa(torch: Torch, q0: Tensor, k0: Tensor, v0: Tensor, options: SdpaOptions): Tensor {
  const v = lowered(torch, v0);
  const k = lowered(torch, k0);
  const q = lowered(torch, q0);
  const kernel = options.kernel(q, k, options.mask !== null);
  let mask = options.mask && additiveMask(torch, options.mask, q.dtype);
  if (mask && kernel === "efficient") mask = paddedMask(torch, mask);
  const run = (): Tensor => {
    switch (kernel) {
      case "cudnn":
        return cudnnAttention(torch, q, k, v, mask);
      case "flash":
        return flashAttention(torch, q, k, v, options.dropout);
      case "efficient":
        return efficientAttention(torch, q, k, v, mask);
      case "math":
        return mathAttention(torch, q, k, v, mask, options.dropout);
    }
  };
  const out = torch.keeping(run);
  if (kernel !== "math") countAttention(torch, q, k, out);
  for (const t of [mask, q, k, v]) torch.consume(t);
  return out;
}

/** Two products over the scores' lower half; backward takes five where the forward takes two. */
function countAttention(torch: Torch, q: Tensor, k: Tensor, out: Tensor): void {
  const [batch, heads, length, size] = q.shape as [number, number, number, number];
  const flops = 2 * batch * heads * length * k.shape[2]! * size;
  torch.work.push({ kind: "attention", flops, dtype: q.dtype, backward: false, times: torch.times });
  const { node } = out;
  if (!node) return;
  const { backward } = node;
  node.backward = (grads, needs) => {
    torch.work.push({
      kind: "attention",
      flops: 2.5 * flops,
      dtype: q.dtype,
      backward: true,
      times: torch.times,
    });
    return backward(grads, needs);
  };
}

/**
 * The flash-attn package, called by transformers with the length before the heads: nothing is transposed
 * back, and the result needs no copy.
 */
export function flashAttention2(torch: Torch, q0: Tensor, k0: Tensor, v0: Tensor, dropout: number): Tensor {
  const [q, k, v] = [q0, k0, v0].map((t) => lowered(torch, t)) as [Tensor, Tensor, Tensor];
  const out = flashAttention(torch, q, k, v, dropout);
  countAttention(torch, q, k, out);
  for (const t of [q, k, v]) torch.consume(t);
  return transpose(torch, out, 1, 2);
}

/**
 * transformers' eager_attention_forward: the whole matrix of scores, its fp32 softmax, its cast back. `bias`
 * adds the mask, when there is one, in place of nothing: a fresh tensor.
 */
export function eagerAttention(
  torch: Torch,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: {
    readonly repeats: number;
    readonly mask: Tensor | null;
    readonly dropout: number;
    /** Gemma squeezes the scores through a tanh. */
    readonly softcap?: boolean;
    readonly addMask: (t: Torch, scores: Tensor, mask: Tensor) => Tensor;
  },
): readonly Tensor[] {
  return torch.frame(() => {
    const keys = torch.let(repeatKv(torch, k, options.repeats));
    const values = torch.let(repeatKv(torch, v, options.repeats));
    let weights = torch.let(scale(torch, matmul(torch, q, transpose(torch, keys, 2, 3))));
    if (options.softcap) {
      weights = torch.set(weights, scale(torch, weights));
      weights = torch.set(weights, tanh(torch, weights));
      weights = torch.set(weights, scale(torch, weights));
    }
    if (options.mask) weights = torch.set(weights, options.addMask(torch, weights, options.mask));
    weights = torch.set(weights, castBack(torch, softmax(torch, weights, "fp32"), q));
    weights = torch.set(weights, dropout(torch, weights, options.dropout));
    let out = torch.let(matmul(torch, weights, values));
    out = torch.set(out, contiguous(torch, transpose(torch, out, 1, 2)));
    return [out, weights];
  });
}

function castBack(torch: Torch, t: Tensor, like: Tensor): Tensor {
  if (t.dtype === like.dtype) return t;
  const out = torch.empty(t.shape, like.dtype, undefined, contiguousStrides(t.shape));
  if (torch.tracks([t])) {
    torch.record("ToCopyBackward", [out], [t], [], ([g]) => [torch.empty(g!.shape, t.dtype)]);
  }
  torch.consume(t);
  return out;
}
