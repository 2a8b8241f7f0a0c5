import { Kind } from "../tape/vocabulary.ts";
import type { Dtype } from "./dtype.ts";
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

/**
 * The sorting path (EmbeddingBackwardKernel.cu): sorted and original indices, then one fp32 row for each
 * segment of up to ten equal indices. How many segments depends on the data: this takes tokens drawn evenly
 * from the vocabulary, which is also near the worst case.
 */
function sortedBackward(torch: Torch, tokens: number, weight: Tensor): Tensor {
  const [vocabulary, width] = weight.shape as [number, number];
  const grad = torch.empty(weight.shape, weight.dtype);
  const temporaries: Tensor[] = [torch.empty([tokens], "int64"), torch.empty([tokens], "int64")];
  const distinct = Math.round(vocabulary * (1 - Math.exp(-tokens / vocabulary)));
  temporaries.push(torch.empty([distinct, Math.ceil(width / 32) * 32], "fp32", Kind.workspace));
  for (const t of temporaries) torch.consume(t);
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
