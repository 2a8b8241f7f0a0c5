import { Kind } from "../tape/vocabulary.ts";
import type { Dtype } from "./dtype.ts";
import { radixSortBytes } from "./radix-sort.ts";
import { type Tensor, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** Above this many indices the dense backward sorts them (embedding_dense_backward_cuda). */
const SORT_ABOVE = 3072;

/** `F.embedding`. The weight's gradient is dense: as large as the table. */
export function embedding(torch: Torch, ids: Tensor, weight: Tensor): Tensor {
  const out = torch.empty([...ids.shape, weight.shape[1]!], weight.dtype);
  if (torch.tracks([weight])) {
    torch.record("EmbeddingBackward", [out], [weight], torch.save([ids]), () => {
      const tokens = numel(ids.shape);
      if (tokens <= SORT_ABOVE) return [torch.empty(weight.shape, weight.dtype)];
      return [sortedBackward(torch, tokens, weight)];
    });
  }
  torch.consume(ids);
  return out;
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** Items a block of cub's scan takes; read off recorded histories. */
const SCAN_TILE = 896;

function scanScratch(items: number): number {
  return roundUp(16 * (Math.ceil(items / SCAN_TILE) + 32), 256) + 511;
}

/** Rows that one partial sum takes (NROWS_PER_THREAD in EmbeddingBackwardKernel.cu). */
const ROWS_A_SEGMENT = 10;

/**
 * The sorting path (embedding_dense_backward_cuda, EmbeddingBackwardKernel.cu): indices are sorted, runs of
 * equal ones found, and each run summed in segments of up to ten rows. The segments' number is bounded, not
 * counted, so nothing here depends on the data.
 */
function sortedBackward(torch: Torch, tokens: number, weight: Tensor): Tensor {
  const [vocabulary, width] = weight.shape as [number, number];
  const brief = (bytes: number, ...held: Tensor[]): void => {
    const scratch = torch.storage(bytes, Kind.workspace);
    torch.retain(scratch);
    torch.release(scratch);
    for (const t of held) torch.consume(t);
  };
  const integers = (count: number): Tensor => torch.empty([count], "int64");
  const sorted = integers(tokens);
  const original = integers(tokens);
  brief(radixSortBytes(tokens), integers(tokens));
  const grad = torch.empty(weight.shape, weight.dtype);
  const offsets = integers(tokens);
  const found = integers(1);
  brief(scanScratch(1), integers(tokens));
  const runs = Math.min(tokens, vocabulary);
  const partials = [integers(runs), integers(runs)];
  brief(scanScratch(runs));
  const segments = runs + Math.floor(tokens / ROWS_A_SEGMENT);
  const sums = [
    integers(1),
    integers(segments),
    torch.empty([segments, roundUp(width, 32)], "fp32", Kind.workspace),
  ];
  for (const t of [...sums.reverse(), ...partials.reverse(), found, offsets, original, sorted])
    torch.consume(t);
  return grad;
}

/** `torch.arange`, `torch.randint`, …: data made on the device. */
export function input(torch: Torch, shape: readonly number[], dtype: Dtype): Tensor {
  return torch.empty(shape, dtype, Kind.input);
}

/** `x[mask]` with `rows` positions set: a copy. Backward puts the rows back into zeros (index_put). */
export function gather(torch: Torch, x: Tensor, rows: number): Tensor {
  const width = x.shape[x.shape.length - 1]!;
  const indices = torch.empty([2, rows], "int64");
  const out = torch.empty([rows, width], x.dtype);
  if (torch.tracks([x])) {
    torch.record("IndexBackward", [out], [x], torch.save([indices]), ([g]) => [
      torch.empty(x.shape, g!.dtype),
    ]);
  }
  torch.consume(indices);
  torch.consume(x);
  return out;
}
