import { checkpointNonReentrant } from "../autograd/checkpoint.ts";
import { crossEntropy } from "../autograd/cross-entropy.ts";
import { add, scale } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { reshape, slice, split, to, view } from "../autograd/views.ts";
import { callLinear } from "../nets/layers.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Loss } from "./loss.ts";

/** How many pieces the sequence is cut into. */
const CHUNKS = 8;

/** Sizes `tensor.chunk(n)` gives: equal, the last smaller. */
function chunkSizes(length: number): number[] {
  const size = Math.ceil(length / CHUNKS);
  const sizes: number[] = [];
  for (let left = length; left > 0; left -= size) sizes.push(Math.min(size, left));
  return sizes;
}

/**
 * Cross-entropy over chunks of the sequence, each a checkpoint: its logits exist while it is computed and again,
 * one chunk at a time, in backward.
 */
export const chunkedLoss: Loss = (f, net, hidden) => {
  const { torch } = f;
  if (f.training) torch.phase = Phase.loss;
  return torch.module("loss", [], () => {
    const [batch, length] = f.ids.shape as [number, number];
    const padded = torch.let(torch.empty([batch, length + 1], "int64"));
    const labels = torch.let(slice(torch, padded, 1, 1, length + 1));
    const sizes = chunkSizes(length);
    const parts = split(torch, hidden, sizes, 1).map((t) => torch.let(t));
    const targets = split(torch, labels, sizes, 1).map((t) => torch.let(t));
    let total: Tensor | null = null;
    parts.forEach((part, i) => {
      const target = targets[i]!;
      const loss = checkpointNonReentrant(torch, part, [target], (h) =>
        torch.frame(() => {
          const scores = to(torch, callLinear(torch, net.head, h), "fp32");
          const logits = torch.let(net.logits ? net.logits(torch, scores) : scores);
          return crossEntropy(torch, view(torch, logits, [-1, net.vocabulary]), reshape(torch, target, [-1]));
        }),
      );
      total = total ? torch.set(total, add(torch, total, loss)) : torch.let(scalarAdd(f.torch, loss));
    });
    return scale(torch, total!);
  });
};

/** `sum()` starts from the number 0. */
function scalarAdd(torch: Parameters<typeof scale>[0], loss: Tensor): Tensor {
  return scale(torch, loss);
}
