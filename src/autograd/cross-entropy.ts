import { type Tensor } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { to } from "./views.ts";

/** `F.cross_entropy` over rows of logits: log-softmax, then the negative log likelihood. */
export function crossEntropy(torch: Torch, logits0: Tensor, target: Tensor): Tensor {
  const logits = torch.autocast ? to(torch, logits0, "fp32") : logits0;
  const logp = torch.empty(logits.shape, logits.dtype);
  if (torch.tracks([logits])) {
    torch.record("LogSoftmaxBackward", [logp], [logits], torch.save([logp]), () => [
      torch.empty(logits.shape, logits.dtype),
    ]);
  }
  torch.consume(logits);
  const loss = torch.empty([], logp.dtype);
  const weight = torch.empty([], logp.dtype);
  if (torch.tracks([logp])) {
    torch.record("NllLossBackward", [loss], [logp], torch.save([logp, target, weight]), () => [
      torch.empty(logp.shape, logp.dtype),
    ]);
  }
  torch.consume(weight);
  torch.consume(logp);
  torch.consume(target);
  return loss;
}
