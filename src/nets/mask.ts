import type { Dtype } from "../autograd/dtype.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { expand } from "../autograd/views.ts";
import type { Forward } from "./net.ts";

/**
 * transformers' create_causal_mask and, with a window, create_sliding_window_causal_mask. SDPA needs no mask
 * when nothing is padded and the sequence is shorter than the window (is_causal does it); eager attention
 * always gets a matrix in the model's type.
 */
export function causalMask(f: Forward, dtype: Dtype, window: number | null = null): Tensor | null {
  const { torch } = f;
  const made = torch.frame(() => {
    const padding = f.mask ? torch.let(torch.empty([f.batch, f.seq], "bool")) : null;
    if (!f.mask && !f.useCache) findPackedSequences(f);
    const needed = f.attention === "eager" || (f.attention === "sdpa" && window !== null && f.seq >= window);
    if (!needed) {
      if (padding) checkAllOnes(f);
      return;
    }
    const allowed = torch.let(allowedPairs(f, window, padding));
    if (f.attention !== "eager") return expand(torch, allowed, [f.batch, 1, f.seq, f.seq]);
    return torch.empty([f.batch, 1, f.seq, f.seq], dtype);
  }) as Tensor | undefined;
  return made ?? null;
}

/** The boolean matrix of query and key pairs, one comparison at a time. */
function allowedPairs(f: Forward, window: number | null, padding: Tensor | null): Tensor {
  const { torch, batch, seq } = f;
  return torch.frame(() => {
    for (const t of [torch.empty([batch], "int64"), torch.empty([1], "int64")]) torch.let(t);
    for (const t of [arange(torch, seq), arange(torch, seq)]) torch.let(t);
    const square = (): Tensor => torch.empty([1, 1, seq, seq], "bool");
    const both = (a: Tensor, b: Tensor): Tensor => {
      const rows = Math.max(a.shape[0] ?? 1, b.shape[0] ?? 1);
      const out = torch.empty([rows, 1, seq, seq], "bool");
      torch.consume(b);
      torch.consume(a);
      return out;
    };
    // and_masks starts from a scalar `True`.
    const within = (): Tensor => {
      if (window === null) return square();
      let all = torch.empty([], "bool");
      const first = torch.empty([seq], "int64");
      const near = square();
      torch.consume(first);
      all = both(all, near);
      return both(all, square());
    };
    if (!padding) return within();
    const all = both(torch.empty([], "bool"), within());
    // `padding[batch, key]`: both indices are expanded into tensors of their own.
    const indices = [0, 1].map(() => torch.empty([batch, 1, 1, seq], "int64"));
    const kept = torch.empty([batch, 1, 1, seq], "bool");
    for (const t of indices) torch.consume(t);
    return both(all, kept);
  });
}

/** A mask of ones is dropped: `(mask == 1).all()` on the device first. */
function checkAllOnes({ torch, batch, seq }: Forward): void {
  const one = torch.empty([1], "int64");
  const compared = torch.empty([batch, seq], "int64");
  torch.consume(compared);
  torch.consume(one);
}

/** Without a mask or a cache, positions are checked for packed sequences: small integers a token. */
function findPackedSequences(f: Forward): void {
  const { torch, batch, seq } = f;
  const first = torch.empty([batch, 1], "int64");
  const prepended = torch.empty([batch, seq + 1], "int64");
  const difference = torch.empty([batch, seq], "int64");
  torch.consume(prepended);
  const jumps = torch.empty([batch, seq], "bool");
  const wide = torch.empty([batch, seq], "int64");
  const sums = torch.empty([batch, seq], "int64");
  for (const t of [wide, jumps, sums, difference, first]) torch.consume(t);
}

/** `torch.arange(n) + offset`. */
function arange(torch: Torch, length: number): Tensor {
  const range = torch.empty([length], "int64");
  const shifted = torch.empty([length], "int64");
  torch.consume(range);
  return shifted;
}
