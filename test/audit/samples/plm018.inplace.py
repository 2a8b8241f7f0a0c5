import torch
from torch import nn


class Tracked(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("level", torch.zeros(1))
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("used", torch.zeros(dim))
        self.register_buffer("total", torch.zeros(dim))
        self.register_buffer("held", torch.zeros(dim))

    def forward(self, x):
        h = self.proj(x)
        # trap: cut off
        self.mean.lerp_(h.detach().mean(0), 0.1)
        with torch.no_grad():
            # trap: nothing is recorded
            self.level.mul_(0.9).add_(h.abs().mean(), alpha=0.1)
        # trap: a number
        self.seen.add_(x.shape[0])
        # trap: positions have no graph
        self.used.add_(nn.functional.one_hot(h.argmax(1), h.shape[1]).sum(0))
        # trap: emptied by every forward
        self.total.zero_()
        self.total.add_(h.sum(0))
        self.held.mul_(0.9).add_(h.mean(0), alpha=0.1)  # expect: PLM018
        return h + self.total
