import type { Dtype } from "../autograd/dtype.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import type { Forward } from "./net.ts";

/**
 * transformers' create_causal_mask. SDPA needs none when nothing is padded (is_causal does it); eager always
 * gets a full [1 or batch, 1, seq, seq] matrix in the model's type.
 */
export function causalMask(f: Forward, dtype: Dtype): Tensor | null {
  const { torch } = f;
  if (!f.mask && !f.useCache) findPackedSequences(f);
  if (f.mask && f.attention !== "eager") checkAllOnes(f);
  if (f.attention !== "eager") return null;
  const small = [
    torch.empty([2], "int64"),
    torch.empty([1], "int64"),
    arange(torch, f.seq),
    arange(torch, f.seq),
  ];
  const allowed = torch.empty([f.mask ? f.batch : 1, 1, f.seq, f.seq], "bool");
  for (const t of small) torch.consume(t);
  const mask = torch.empty([f.batch, 1, f.seq, f.seq], dtype);
  torch.consume(allowed);
  return mask;
}

/** A mask of ones is dropped: `(mask == 1).all()` on the device first. */
function checkAllOnes(f: Forward): void {
  const { torch, batch, seq } = f;
  const wide = torch.empty([batch, seq], "bool");
  const one = torch.empty([1], "int64");
  const compared = torch.empty([batch, seq], "int64");
  torch.consume(compared);
  for (const t of [one, wide]) torch.consume(t);
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
