import { crossEntropy } from "../autograd/cross-entropy.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { contiguous, slice, to, view } from "../autograd/views.ts";

/** transformers' ForCausalLMLoss: logits in fp32, labels shifted by padding one column. */
export function causalLmLoss(torch: Torch, logits0: Tensor, labels0: Tensor, vocabulary: number): Tensor {
  return torch.frame(() => {
    let logits = torch.let(to(torch, logits0, "fp32"));
    const [batch, length] = labels0.shape as [number, number];
    const labels = torch.let(torch.empty([batch, length + 1], "int64"));
    let shifted = torch.let(contiguous(torch, slice(torch, labels, 1, 1, length + 1)));
    logits = torch.set(logits, view(torch, logits, [-1, vocabulary]));
    shifted = torch.set(shifted, view(torch, shifted, [-1]));
    return crossEntropy(torch, logits, shifted);
  });
}
