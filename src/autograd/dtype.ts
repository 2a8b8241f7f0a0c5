/** Element types by the names recipes use. */
export type Dtype = "fp32" | "bf16" | "fp16" | "int64" | "int32" | "int8" | "uint8" | "bool" | "fp64";

const SIZES: Readonly<Record<Dtype, number>> = {
  fp64: 8,
  fp32: 4,
  bf16: 2,
  fp16: 2,
  int64: 8,
  int32: 4,
  int8: 1,
  uint8: 1,
  bool: 1,
};

export function sizeOf(dtype: Dtype): number {
  return SIZES[dtype];
}

export function isFloating(dtype: Dtype): boolean {
  return dtype === "fp32" || dtype === "bf16" || dtype === "fp16" || dtype === "fp64";
}

const RANK: Readonly<Record<Dtype, number>> = {
  bool: 0,
  uint8: 1,
  int8: 2,
  int32: 3,
  int64: 4,
  fp16: 5,
  bf16: 5,
  fp32: 6,
  fp64: 7,
};

/** torch.promote_types for two dimensioned tensors: bf16 with fp16 is fp32. */
export function promote(a: Dtype, b: Dtype): Dtype {
  if (a === b) return a;
  if (RANK[a] === RANK[b]) return "fp32";
  return RANK[a] > RANK[b] ? a : b;
}
