import { Kind } from "../tape/vocabulary.ts";
import type { Dtype } from "./dtype.ts";
import { radixSortBytes } from "./radix-sort.ts";
import { type Storage, type Tensor, numel } from "./tensor.ts";
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

/** Rows of the gradient that one thread sums (NROWS_PER_THREAD), and cub's bytes for a scan of this size. */
const ROWS_A_THREAD = 10;
const SCAN_BYTES = 1279;

/**
 * The sorting path (EmbeddingBackwardKernel.cu): indices sorted, cut into segments of equal ones and those into
 * parts of ten rows, a fp32 row of scratch for as many parts as there could be.
 */
function sortedBackward(torch: Torch, tokens: number, weight: Tensor): Tensor {
  const [vocabulary, width] = weight.shape as [number, number];
  const scratch = (bytes: number): Storage => {
    const storage = torch.storage(bytes, Kind.workspace);
    torch.retain(storage);
    return storage;
  };
  const held = [scratch(8 * tokens), scratch(8 * tokens)];
  const range = scratch(8 * tokens);
  torch.release(scratch(radixSortBytes(tokens)));
  torch.release(range);
  const grad = torch.empty(weight.shape, weight.dtype);
  held.push(scratch(8 * tokens), scratch(8));
  const ends = scratch(8 * tokens);
  torch.release(scratch(SCAN_BYTES));
  torch.release(ends);
  held.push(scratch(8 * tokens), scratch(8 * tokens));
  torch.release(scratch(SCAN_BYTES));
  const parts = Math.floor(tokens / ROWS_A_THREAD) + Math.min(tokens, vocabulary);
  held.push(scratch(8), scratch(8 * parts), scratch(4 * parts * Math.ceil(width / 32) * 32));
  for (const storage of held.reverse()) torch.release(storage);
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
