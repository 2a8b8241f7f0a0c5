import torch
from torch import nn


class Staged(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = nn.ModuleList(nn.Linear(one, other) for one, other in zip(widths, widths[1:]))
        self.metrics = [len, sum]


class Centred(Staged):
    def __init__(self, widths):
        super().__init__(widths)
        self.register_buffer("centre", torch.zeros(widths[-1]))
        self.register_buffer("spread", torch.zeros(widths[-1]))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        for at in range(2):
            x = self.stages[at](x)
        self.centre = 0.9 * self.centre + 0.1 * x.mean(0)  # expect: PLM018
        # trap: without its graph
        self.spread = 0.9 * self.spread + 0.1 * x.detach().std(0)
        # trap: a number
        self.seen = self.seen + self.metrics[0](x)
        return x
