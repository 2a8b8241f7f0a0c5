import type { Dtype } from "./dtype.ts";
import type { Node } from "./graph.ts";

/** A block of device memory, alive while anything refers to it. Sharded parameters give theirs up in between. */
export interface Storage {
  /** Id on the tape; -1 for memory the tape does not follow (host memory, meta tensors). */
  id: number;
  bytes: number;
  /** Row of its alloc on the tape, so that what it turned out to be can be written there; -1 while it has none. */
  row: number;
  /** Tensors and saved variables that share it. */
  refs: number;
}

/**
 * A Python tensor object without its numbers.
 *
 * `refs` counts what CPython counts: variables, containers, engine buffers. A fresh result is *floating*: a
 * temporary on the value stack that dies when the operation that consumes it returns, unless it is bound
 * first (see Torch.let).
 */
export interface Tensor {
  readonly storage: Storage;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  dtype: Dtype;
  /** Shares another tensor's storage and keeps that tensor's identity alive (DifferentiableViewMeta). */
  readonly isView: boolean;
  refs: number;
  floating: boolean;
  requiresGrad: boolean;
  /** The node that computed it; null for leaves and where no gradient flows. */
  node: Node | null;
  /** Which of the node's outputs it is. */
  output: number;
  /** Gradient of a leaf, once backward has produced one. */
  grad: Tensor | null;
  /** The leaf's AccumulateGrad node; it keeps the leaf alive, and dies with the graph that leads to it. */
  accumulator: Node | null;
}

export function numel(shape: readonly number[]): number {
  let n = 1;
  for (const d of shape) n *= d;
  return n;
}

export function contiguousStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = step;
    step *= Math.max(shape[d]!, 1);
  }
  return strides;
}

export function isContiguous(t: {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}): boolean {
  let step = 1;
  for (let d = t.shape.length - 1; d >= 0; d--) {
    if (t.shape[d] !== 1 && t.strides[d] !== step) return false;
    step *= t.shape[d]!;
  }
  return true;
}

/** Every element of the storage is hit exactly once: a permutation of a contiguous tensor. */
export function isDense(t: {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}): boolean {
  if (isContiguous(t)) return true;
  const dims = t.shape.map((_, d) => d).filter((d) => t.shape[d] !== 1);
  dims.sort((a, b) => t.strides[a]! - t.strides[b]!);
  let step = 1;
  for (const d of dims) {
    if (t.strides[d] !== step) return false;
    step *= t.shape[d]!;
  }
  return true;
}

/**
 * Strides of `shape` as a view of the tensor, or null where a copy is needed: merges and splits of dimensions
 * that are contiguous among themselves (at::detail::computeStride).
 */
export function viewStrides(
  oldShape: readonly number[],
  oldStrides: readonly number[],
  shape: readonly number[],
): number[] | null {
  if (oldShape.length === 0) return shape.map(() => 1);
  const strides = new Array<number>(shape.length);
  let at = shape.length - 1;
  let chunkStride = oldStrides[oldShape.length - 1]!;
  let oldNumel = 1;
  let newNumel = 1;
  for (let d = oldShape.length - 1; d >= 0; d--) {
    oldNumel *= oldShape[d]!;
    const chunkEnds = d === 0 || (oldShape[d - 1] !== 1 && oldStrides[d - 1] !== oldNumel * chunkStride);
    if (!chunkEnds) continue;
    while (at >= 0 && (newNumel < oldNumel || shape[at] === 1)) {
      strides[at] = newNumel * chunkStride;
      newNumel *= shape[at]!;
      at--;
    }
    if (newNumel !== oldNumel) return null;
    if (d > 0) {
      chunkStride = oldStrides[d - 1]!;
      oldNumel = 1;
      newNumel = 1;
    }
  }
  return at === -1 ? strides : null;
}
