"""Stock AdamW whose weights' copies, gradients and state live in host memory.

A gradient leaves the card as soon as backward has completed it, so the card holds one at a time instead of all.
Accumulation and clipping happen on the host: it is the same training, slower by the trip.
"""
import torch


class HostAdamW:
    def __init__(self, parameters, **settings):
        self.pairs = [(p, torch.nn.Parameter(p.detach().cpu())) for p in parameters if p.requires_grad]
        self.optimizer = torch.optim.AdamW([host for _, host in self.pairs], fused=True, **settings)
        for parameter, host in self.pairs:
            parameter.register_post_accumulate_grad_hook(lambda p, host=host: self._take(p, host))

    @staticmethod
    def _take(parameter, host):
        gradient = parameter.grad.to("cpu")
        parameter.grad = None
        if host.grad is None:
            host.grad = gradient
        else:
            host.grad += gradient

    def clip(self, largest_norm):
        return torch.nn.utils.clip_grad_norm_([host for _, host in self.pairs], largest_norm)

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        for parameter, host in self.pairs:
            parameter.copy_(host)

    def zero_grad(self):
        self.optimizer.zero_grad()


class CardAdamW:
    """The same doors around an optimizer on the card: 8-bit where bitsandbytes is, AdamW elsewhere."""

    def __init__(self, parameters, eight_bit, **settings):
        self.parameters = [p for p in parameters if p.requires_grad]
        if eight_bit:
            import bitsandbytes as bnb

            self.optimizer = bnb.optim.AdamW8bit(self.parameters, **settings)
        else:
            self.optimizer = torch.optim.AdamW(self.parameters, fused=True, **settings)

    def clip(self, largest_norm):
        return torch.nn.utils.clip_grad_norm_(self.parameters, largest_norm)

    def step(self):
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
