import { Kind } from "../tape/vocabulary.ts";
import { matmul, lowered } from "./matmul.ts";
import { dropout, scale, softmax, tanh } from "./pointwise.ts";
import { type Tensor, contiguousStrides, isContiguous } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { contiguous, transpose } from "./views.ts";

/** Which kernel scaled_dot_product_attention picks. */
export type SdpaKernel = "cudnn" | "flash" | "efficient" | "math";

export interface SdpaOptions {
  readonly kernel: SdpaKernel;
  readonly dropout: number;
}

const SEED_BYTES = 8;
/** cuDNN rounds its scratch to this many bytes; seen at the end of every recorded workspace. */
const CUDNN_SCRATCH = 256;

/** An output laid out like the query, so that transposing heads back costs nothing. */
function likeLayout(torch: Torch, like: Tensor, shape: readonly number[]): Tensor {
  if (isContiguous(like)) return torch.empty(shape, like.dtype);
  const order = like.strides.map((_, d) => d).sort((a, b) => like.strides[a]! - like.strides[b]!);
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (const d of order) {
    strides[d] = step;
    step *= shape[d]!;
  }
  return torch.empty(shape, like.dtype, undefined, strides);
}

/** `F.scaled_dot_product_attention` over [batch, heads, sequence, head size]; grouped keys allowed. */
export function sdpa(torch: Torch, q0: Tensor, k0: Tensor, v0: Tensor, options: SdpaOptions): Tensor {
  const v = lowered(torch, v0);
  const k = lowered(torch, k0);
  const q = lowered(torch, q0);
  const out = options.kernel === "cudnn" ? cudnn(torch, q, k, v) : flash(torch, q, k, v);
  torch.consume(q);
  torch.consume(k);
  torch.consume(v);
  return out;
}

function cudnn(torch: Torch, q: Tensor, k: Tensor, v: Tensor): Tensor {
  const [batch, heads, length, size] = q.shape as [number, number, number, number];
  const seed = torch.empty([1], "int64");
  const offset = torch.empty([1], "int64");
  const out = likeLayout(torch, q, [batch, heads, length, v.shape[3]!]);
  const tracked = torch.tracks([q, k, v]);
  const lse = tracked ? torch.empty([batch, heads, length, 1], "fp32") : null;
  const scratch = torch.storage(CUDNN_SCRATCH, Kind.workspace);
  torch.retain(scratch);
  torch.release(scratch);
  if (lse) {
    torch.record(
      "CudnnAttentionBackward",
      [out],
      [q, k, v],
      torch.save([q, k, v, out, lse, seed, offset]),
      () => {
        const dq = likeLayout(torch, q, q.shape);
        const dk = likeLayout(torch, k, k.shape);
        const dv = likeLayout(torch, v, v.shape);
        // fp32 accumulator of dq, one fp32 row sum a query, and with grouped keys dk and dv a query head apart.
        const accumulator = batch * heads * length * size * 4;
        const rows = batch * heads * length * 4;
        const expanded = k.shape[1] === heads ? 0 : 2 * batch * heads * k.shape[2]! * size * 2;
        const workspace = torch.storage(accumulator + rows + expanded + CUDNN_SCRATCH, Kind.workspace);
        torch.retain(workspace);
        torch.release(workspace);
        return [dq, dk, dv];
      },
    );
    torch.consume(lse);
  }
  torch.consume(seed);
  torch.consume(offset);
  return out;
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** FlashAttention-2 as PyTorch bundles it (flash_api.cpp): sequence rounded to 128, head size to 32 or 64. */
function flash(torch: Torch, q: Tensor, k: Tensor, v: Tensor): Tensor {
  const [batch, heads, length, size] = q.shape as [number, number, number, number];
  const out = torch.empty([batch, length, heads, size], q.dtype);
  const shaped = torch.alias(
    out,
    [batch, heads, length, size],
    [length * heads * size, size, heads * size, 1],
  );
  const lse = torch.empty([batch, heads, length], "fp32");
  const state = torch.storage(2 * SEED_BYTES);
  const rng = torch.storage(SEED_BYTES);
  torch.retain(state);
  torch.retain(rng);
  torch.release(rng);
  if (torch.tracks([q, k, v])) {
    torch.record("FlashAttentionBackward", [shaped], [q, k, v], torch.save([q, k, v, out, lse]), () => {
      const rounded = roundUp(length, 128);
      const softmaxSum = torch.storage(batch * heads * rounded * 4, Kind.workspace);
      torch.retain(softmaxSum);
      const accumulator = torch.storage(
        batch * rounded * heads * roundUp(size, size <= 128 ? 32 : 64) * 4,
        Kind.workspace,
      );
      torch.retain(accumulator);
      const dq = torch.empty(q.shape, q.dtype, undefined, [length * heads * size, size, heads * size, 1]);
      const groups = k.shape[1]!;
      const keys = k.shape[2]!;
      const layout = [keys * groups * size, size, groups * size, 1];
      const dk = torch.empty(k.shape, k.dtype, undefined, layout);
      const dv = torch.empty(v.shape, v.dtype, undefined, layout);
      if (groups !== heads) {
        const expanded = [torch.empty(q.shape, k.dtype), torch.empty(q.shape, k.dtype)];
        for (const t of expanded) torch.consume(t);
      }
      torch.release(accumulator);
      torch.release(softmaxSum);
      return [dq, dk, dv];
    });
  }
  torch.release(state);
  torch.consume(lse);
  torch.consume(out);
  return shaped;
}

/** transformers' `repeat_kv`: a copy a query head, unless every head has its own key. */
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
