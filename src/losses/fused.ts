import { lowered } from "../autograd/matmul.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { contiguous, view } from "../autograd/views.ts";
import type { Net } from "../nets/net.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Loss } from "./loss.ts";

const nextPowerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/**
 * Liger's fused linear cross-entropy (liger_kernel/ops/fused_linear_cross_entropy.py): logits of one chunk of
 * tokens at a time, as large as the hidden states; gradients of hidden states and head weight are computed in
 * the forward and wait for backward.
 */
export const fusedLoss: Loss = (f, net, hidden) => {
  const { torch } = f;
  if (f.training) torch.phase = Phase.loss;
  return torch.module("loss", [hidden], () => {
    const [batch, length] = f.ids.shape as [number, number];
    const labels = torch.let(torch.empty([batch, length + 1], "int64"));
    const target = torch.let(torch.empty([batch * length], "int64"));
    torch.drop(labels);
    const width = hidden.shape[hidden.shape.length - 1]!;
    const rows = torch.let(view(torch, contiguous(torch, hidden), [batch * length, width]));
    void target;
    return linearCrossEntropy(torch, net, rows);
  });
};

function linearCrossEntropy(torch: Torch, net: Net, rows0: Tensor): Tensor {
  const weight = lowered(torch, net.head.weight);
  const rows = lowered(torch, rows0);
  const [tokens, width] = rows.shape as [number, number];
  const chunk = Math.min(nextPowerOfTwo(Math.ceil(tokens / Math.ceil(net.vocabulary / width))), tokens);
  const gradInput = torch.empty(rows.shape, rows.dtype);
  const gradWeight = weight.requiresGrad ? torch.empty(weight.shape, weight.dtype) : null;
  const losses = torch.empty([tokens], "fp32");
  const kept = torch.empty([tokens], "bool");
  const logits = torch.empty([chunk, net.vocabulary], rows.dtype);
  torch.multiply(tokens, net.vocabulary, width, rows.dtype);
  torch.multiply(tokens, width, net.vocabulary, rows.dtype);
  if (gradWeight) torch.multiply(net.vocabulary, width, tokens, rows.dtype);
  torch.consume(logits);
  const loss = torch.empty([], "fp32");
  torch.consume(losses);
  torch.consume(kept);
  if (torch.tracks([rows, weight])) {
    const saved = torch.save([gradInput, ...(gradWeight ? [gradWeight] : [])]);
    torch.record("LigerFusedLinearCrossEntropyBackward", [loss], [rows, weight], saved, () => [
      // Unpacked, not views: the engine may add to them in place, as it does to a tied head's.
      torch.adopt(gradInput, gradInput.storage),
      gradWeight ? torch.adopt(gradWeight, gradWeight.storage) : null,
    ]);
  }
  torch.consume(gradInput);
  torch.consume(gradWeight);
  torch.consume(weight);
  torch.consume(rows);
  return loss;
}
