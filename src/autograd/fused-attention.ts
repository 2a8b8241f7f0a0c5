import { Kind } from "../tape/vocabulary.ts";
import { MULTIPROCESSORS } from "./reduce.ts";
import type { Storage, Tensor } from "./tensor.ts";
import { isContiguous, isDense } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** cuDNN rounds its scratch to this many bytes; seen at the end of every recorded workspace. */
const CUDNN_SCRATCH = 256;

type Shape4 = [batch: number, heads: number, length: number, size: number];

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

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

/** Strides of [batch, heads, length, size] over memory laid out [batch, length, heads, size]. */
function lengthFirst([, heads, length, size]: Shape4): number[] {
  return [length * heads * size, size, heads * size, 1];
}

/** A kernel's scratch: taken and given back. */
function scratch(torch: Torch, bytes: number, during?: () => void): void {
  const workspace: Storage = torch.storage(bytes, Kind.workspace);
  torch.retain(workspace);
  during?.();
  torch.release(workspace);
}

/** The gradient with its last two dimensions' neighbours in order, copied where it is not. */
function gradientByLength(torch: Torch, g: Tensor): Tensor | null {
  const [batch, heads, length, size] = g.shape as Shape4;
  const strides = lengthFirst([batch, heads, length, size]);
  const fits = g.strides.every((s, d) => s === strides[d] || g.shape[d] === 1);
  return fits ? null : torch.empty(g.shape, g.dtype, undefined, strides);
}

/** cuDNN's attention (aten/src/ATen/native/cudnn/MHA.cpp); a mask is kept in the query's type. */
export function cudnnAttention(torch: Torch, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | null): Tensor {
  const [batch, heads, length, size] = q.shape as Shape4;
  const seed = torch.empty([1], "int64");
  const offset = torch.empty([1], "int64");
  const out = likeLayout(torch, q, [batch, heads, length, v.shape[3]!]);
  const tracked = torch.tracks([q, k, v]);
  const lse = tracked ? torch.empty([batch, heads, length, 1], "fp32") : null;
  scratch(torch, CUDNN_SCRATCH);
  if (lse) {
    const saved = torch.save([...(mask ? [mask] : []), q, k, v, out, lse, seed, offset]);
    torch.record("CudnnAttentionBackward", [out], [q, k, v], saved, () => {
      const dq = likeLayout(torch, q, q.shape);
      const dk = likeLayout(torch, k, k.shape);
      const dv = likeLayout(torch, v, v.shape);
      // fp32 accumulator of dq, one fp32 row sum a query, and with grouped keys dk and dv a query head apart.
      const accumulator = batch * heads * length * size * 4;
      const rows = batch * heads * length * 4;
      const expanded = k.shape[1] === heads ? 0 : 2 * batch * heads * k.shape[2]! * size * 2;
      scratch(torch, accumulator + rows + expanded + CUDNN_SCRATCH);
      return [dq, dk, dv];
    });
    torch.consume(lse);
  }
  torch.consume(seed);
  torch.consume(offset);
  return out;
}

/**
 * FlashAttention-2, PyTorch's copy and the package alike (flash_api.cpp: mha_fwd, mha_bwd). Queries are rounded
 * to 128, the head size to 32 up to 192 and to 256 above.
 */
export function flashAttention(torch: Torch, q: Tensor, k: Tensor, v: Tensor, dropout: number): Tensor {
  const [batch, heads, length, size] = q.shape as Shape4;
  const wide = size <= 192 ? roundUp(size, 32) : 256;
  const out = likeLayout(torch, q, [batch, heads, length, size]);
  const lse = torch.empty([batch, heads, length], "fp32");
  const splits = dropout > 0 ? 1 : keySplits(q, k.shape[2]!);
  if (splits > 1) {
    const rows = splits * batch * heads * length * 4;
    scratch(torch, rows, () => scratch(torch, rows * wide));
  }
  const state = torch.empty([2], "int64");
  const unused = torch.empty([], "int64");
  if (torch.tracks([q, k, v])) {
    const saved = torch.save([q, k, v, out, lse, state, unused]);
    torch.record("FlashAttentionBackward", [out], [q, k, v], saved, ([g]) => {
      const copied = gradientByLength(torch, g!);
      const dq = likeLayout(torch, q, q.shape);
      const dk = likeLayout(torch, k, k.shape);
      const dv = likeLayout(torch, v, v.shape);
      const rounded = roundUp(length, 128);
      scratch(torch, batch * heads * rounded * 4, () =>
        scratch(torch, batch * rounded * heads * wide * 4, () => {
          if (k.shape[1] === heads) return;
          const expanded = [0, 1].map(() => torch.empty([batch, k.shape[2]!, heads, size], k.dtype));
          for (const t of expanded) torch.consume(t);
        }),
      );
      torch.consume(copied);
      return [dq, dk, dv];
    });
  }
  for (const t of [lse, state, unused]) torch.consume(t);
  return out;
}

/**
 * num_splits_heuristic of flash_api.cpp: a grid too small to fill the card splits the keys, in as few parts as
 * come within 85 % of the best fill.
 */
function keySplits(q: Tensor, keys: number): number {
  const [batch, heads, length, size] = q.shape as Shape4;
  const blocks = batch * heads * Math.ceil(length / 64);
  const slots = 2 * MULTIPROCESSORS;
  if (blocks >= 0.8 * slots) return 1;
  const parts = Math.ceil(keys / (size <= 64 ? 256 : size <= 128 ? 128 : 64));
  const fills: number[] = [];
  for (let n = 1; n <= Math.min(128, slots, parts); n++) {
    const same = n > 1 && Math.ceil(parts / n) === Math.ceil(parts / (n - 1));
    const waves = (blocks * n) / slots;
    fills.push(same ? 0 : waves / Math.ceil(waves));
  }
  const enough = 0.85 * Math.max(...fills);
  return fills.findIndex((fill) => fill >= enough) + 1;
}

/** Queries and keys a block of the memory-efficient backward takes (mem_eff_attention/kernels, sm80 and up). */
function blockSizes(half: boolean, size: number): readonly [queries: number, keys: number] {
  if (size <= 64) return [64, 64];
  return half && size <= 128 ? [128, 128] : [128, 64];
}

/** Params::workspace_size of the memory-efficient backward (kernel_backward.h). */
function efficientWorkspace(q: Tensor, keys: number): number {
  const [batch, heads, length, size] = q.shape as Shape4;
  const half = q.dtype !== "fp32";
  const [rows, columns] = blockSizes(half, size);
  const tiles = Math.ceil(length / rows) * Math.ceil(size / columns);
  // A tile of dq: a lock, a counter and padding (16 bytes), then the numbers.
  let floats = tiles * (4 + rows * columns);
  if (half && size > rows) {
    const splits = Math.max(1, Math.min(Math.ceil(keys / columns), Math.floor(200 / (batch * heads))));
    floats += 2 * splits * columns * roundUp(size, rows);
  }
  return batch * heads * roundUp(floats, 4) * 4;
}

/** The memory-efficient kernel (attention.cu, attention_backward.cu); row sums are rounded to 32 queries. */
export function efficientAttention(
  torch: Torch,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  mask: Tensor | null,
): Tensor {
  const shape = q.shape as Shape4;
  const [batch, heads, length] = shape;
  const fresh = (like: Tensor): Tensor =>
    torch.empty(like.shape, like.dtype, undefined, lengthFirst(like.shape as Shape4));
  const out = fresh(q);
  const tracked = torch.tracks([q, k, v]);
  const lse = tracked ? torch.empty([batch, heads, roundUp(length, 32)], "fp32") : null;
  if (lse) {
    const saved = torch.save([...(mask ? [mask] : []), q, k, v, out, lse]);
    torch.record("EfficientAttentionBackward", [out], [q, k, v], saved, ([g]) => {
      const copied = gradientByLength(torch, g!);
      const grads = [fresh(q), fresh(k), fresh(v)];
      const delta = efficientDelta(torch, q);
      scratch(torch, efficientWorkspace(q, k.shape[2]!), () => torch.consume(delta));
      torch.consume(copied);
      return grads;
    });
    torch.consume(lse);
  }
  return out;
}

/** Row sums of gradient times output: in the kernel for half types, by three operations in fp32. */
function efficientDelta(torch: Torch, q: Tensor): Tensor {
  const [batch, heads, length] = q.shape as Shape4;
  if (q.dtype !== "fp32") return torch.empty([batch, heads, length], "fp32");
  const product = torch.empty(q.shape, "fp32");
  const sums = torch.empty([batch, length, heads], "fp32");
  const delta = torch.empty([batch, heads, length], "fp32");
  torch.consume(sums);
  torch.consume(product);
  return delta;
}

/** pad_bias: the mask's rows are brought to a multiple of 16 numbers. Consumes what it replaces. */
export function paddedMask(torch: Torch, mask: Tensor): Tensor {
  const keys = mask.shape[3]!;
  if (keys % 16 === 0 || !isDense(mask)) return mask;
  const padded = torch.empty([...mask.shape.slice(0, 3), roundUp(keys, 16)], mask.dtype);
  torch.consume(mask);
  return padded;
}
