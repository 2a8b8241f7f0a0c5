import { Kind } from "../tape/vocabulary.ts";
import { raw } from "./pointwise.ts";
import { bitsBelow, radixSortBytes } from "./radix-sort.ts";
import { type Tensor, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** Above this many keys `torch.sort` leaves the one-block kernels for cub (should_use_small_sort). */
const SMALL_SORT = 4096;

/** A temporary the current operation frees before it returns. */
function scratch(torch: Torch, bytes: number): void {
  const storage = torch.storage(bytes, Kind.workspace);
  torch.retain(storage);
  torch.release(storage);
}

/** index_put_ with accumulation: sorts the indices so that equal ones meet (Indexing.cu). */
function accumulateScratch(torch: Torch, indices: number, rows: number): void {
  const list = (): Tensor => torch.empty([indices], "int64", Kind.workspace);
  const scaled = list();
  const linear = list();
  torch.consume(scaled);
  const sorted = [list(), list(), list()];
  scratch(torch, radixSortBytes(indices, bitsBelow(rows)));
  for (const t of [...sorted.reverse(), linear]) torch.consume(t);
}

/** `x[indices]`: rows of x. Backward adds into zeros of x's size. */
export function gatherRows(torch: Torch, x: Tensor, indices: Tensor): Tensor {
  const count = numel(indices.shape);
  const tracked = torch.tracks([x]);
  const saved = tracked ? torch.save([indices]) : [];
  const out = torch.empty([count, ...x.shape.slice(1)], x.dtype);
  if (tracked) {
    torch.record("IndexBackward", [out], [x], saved, ([g]) => {
      const grad = torch.empty(x.shape, g!.dtype);
      accumulateScratch(torch, count, x.shape[0]!);
      return [grad];
    });
  }
  torch.consume(x);
  torch.consume(indices);
  return out;
}

/** `torch.sort` of int64 keys: values, places. */
export function sort(torch: Torch, x: Tensor): readonly [Tensor, Tensor] {
  const values = torch.empty(x.shape, x.dtype);
  const places = torch.empty(x.shape, "int64");
  const order = torch.empty(x.shape, "int64", Kind.workspace);
  const count = numel(x.shape);
  if (count > SMALL_SORT) scratch(torch, radixSortBytes(count));
  torch.consume(order);
  torch.consume(x);
  return [values, places];
}

/** `torch.topk` along the last dimension: values, places. */
export function topk(torch: Torch, x: Tensor, k: number): readonly [Tensor, Tensor] {
  const shape = [...x.shape.slice(0, -1), k];
  const values = torch.empty(shape, x.dtype);
  const places = torch.empty(shape, "int64");
  if (torch.tracks([x])) {
    torch.record("TopkBackward", [values], [x], torch.save([places]), ([g]) => [
      torch.empty(x.shape, g!.dtype),
    ]);
  }
  torch.consume(x);
  return [values, places];
}

/** `x.masked_fill(mask, number)`; in place on a result nobody else holds. */
export function maskedFill(torch: Torch, x: Tensor, mask: Tensor, inPlace = false): Tensor {
  const tracked = torch.tracks([x]);
  const saved = tracked ? torch.save([mask]) : [];
  const out = inPlace ? torch.alias(x, x.shape, x.strides) : raw(torch, [x], x.shape, x.dtype);
  if (tracked) {
    torch.record("MaskedFillBackward", [out], [x], saved, ([g]) => [raw(torch, [g!], g!.shape, g!.dtype)]);
  }
  torch.consume(x);
  return out;
}

/** Bytes of metadata a group, and the workspace a multiprocessor of an H100 or H200 (GroupMM.cu, CUTLASS). */
const GROUP_METADATA = 60;
const GROUPED_WORKSPACE = 132 * 512;

/**
 * `F.grouped_mm(x, weight.transpose(-2, -1), offs)`: rows sorted by group times the group's matrix, weight
 * [groups, out, in]. How rows spread over groups does not change a size.
 */
export function groupedMm(torch: Torch, x: Tensor, weight: Tensor, offsets: Tensor): Tensor {
  const [groups, outputs] = weight.shape as [number, number];
  const kernel = (): void => {
    // Only bfloat16 has the grouped kernel; other types loop over groups without memory of their own.
    if (x.dtype !== "bf16") return;
    const metadata = torch.storage(groups * GROUP_METADATA, Kind.workspace);
    torch.retain(metadata);
    scratch(torch, GROUPED_WORKSPACE);
    torch.release(metadata);
  };
  const tracked = torch.tracks([x, weight]);
  const saved = tracked
    ? torch.save([...(x.requiresGrad ? [weight] : []), offsets, ...(weight.requiresGrad ? [x] : [])])
    : [];
  const out = torch.empty([x.shape[0]!, outputs], x.dtype);
  kernel();
  if (tracked) {
    torch.record("GroupedMmBackward", [out], [x, weight], saved, (_g, needs) => {
      const product = (wanted: boolean, like: Tensor): Tensor | null => {
        if (!wanted) return null;
        const grad = torch.empty(like.shape, like.dtype);
        kernel();
        return grad;
      };
      const gw = product(needs[1]!, weight);
      const gx = product(needs[0]!, x);
      return [gx, gw];
    });
  }
  torch.consume(x);
  return out;
}

/** `x.sum(dim)` of one dimension: the gradient comes back expanded, a view. */
export function sumDim(torch: Torch, x: Tensor, dim: number, keep = false): Tensor {
  const at = dim < 0 ? dim + x.shape.length : dim;
  const kept = x.shape.map((n, d) => (d === at ? 1 : n));
  const shape = keep ? kept : x.shape.filter((_, d) => d !== at);
  const out = torch.empty(shape, x.dtype);
  if (torch.tracks([x])) {
    torch.record("SumBackward", [out], [x], [], ([g]) => {
      const strides = keep ? [...g!.strides] : [...g!.strides.slice(0, at), 0, ...g!.strides.slice(at)];
      strides[at] = 0;
      return [torch.alias(g!, x.shape, strides)];
    });
  }
  torch.consume(x);
  return out;
}

/** `a /= b` where both carry gradients: the old a is cloned for b's. */
export function divideInPlace(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const tracked = torch.tracks([a, b]);
  const original = tracked ? torch.empty(a.shape, a.dtype) : null;
  const saved = tracked ? torch.save([b, original!]) : [];
  const out = torch.alias(a, a.shape, a.strides);
  if (tracked) {
    torch.record("DivBackward", [out], [a, b], saved, ([g]) => {
      // -grad · (a / b / b), then grad / b.
      const like = (): Tensor => torch.empty(a.shape, g!.dtype);
      const steps = [like(), like(), like()];
      const gb = like();
      for (const t of steps.reverse()) torch.consume(t);
      return [like(), gb];
    });
  }
  torch.consume(original);
  torch.consume(a);
  torch.consume(b);
  return out;
}
