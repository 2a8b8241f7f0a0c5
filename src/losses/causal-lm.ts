import { crossEntropy } from "../autograd/cross-entropy.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { contiguous, slice, to, view } from "../autograd/views.ts";
import { callLinear } from "../nets/layers.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Loss } from "./loss.ts";

/** transformers' ForCausalLMLoss: logits in fp32, labels shifted by padding one column. */
function causalLmLoss(
  torch: Torch,
  logits0: Tensor,
  [batch, length]: readonly [number, number],
  vocabulary: number,
): Tensor {
  return torch.frame(() => {
    let logits = torch.let(to(torch, logits0, "fp32"));
    const labels = torch.let(torch.empty([batch, length + 1], "int64"));
    let shifted = torch.let(contiguous(torch, slice(torch, labels, 1, 1, length + 1)));
    logits = torch.set(logits, view(torch, logits, [-1, vocabulary]));
    shifted = torch.set(shifted, view(torch, shifted, [-1]));
    return crossEntropy(torch, logits, shifted);
  });
}

/** A model called with `labels=`: all logits, then their loss. The output object keeps the logits. */
export const defaultLoss: Loss = (f, net, hidden) => {
  const { torch } = f;
  return torch.frame(() => {
    const kept = f.logitsToKeep ?? f.seq;
    const seen = kept === f.seq ? hidden : torch.let(slice(torch, hidden, 1, f.seq - kept, f.seq));
    const scores = callLinear(torch, net.head, seen);
    const logits = torch.let(net.logits ? net.logits(torch, scores) : scores);
    if (f.training) torch.phase = Phase.loss;
    const loss = torch.let(
      torch.module("loss", [], () => causalLmLoss(torch, logits, [f.batch, kept], net.vocabulary)),
    );
    torch.ref(logits);
    f.outputs.push(logits);
    return loss;
  });
};
