import torch
from torch import nn


class Branch(nn.Module):
    def forward(self, x, images):
        wide = self.zero_pad(self.down(x.cuda()))
        scaled = wide * self.scaling  # expect: PLM048
        # trap: the same name
        wider = self.zero_pad(self.up(x))
        wider = wider * self.scaling
        # trap: it learns
        learnt = self.zero_pad(self.side(x))
        gated = learnt * self.gate
        # trap: a number an example
        score = self.score_of(x)
        halved = score * 0.5
        pictures = (images - self.mean) / self.std  # likely: PLM048
        return x + scaled + wider + gated, pictures, halved

    def __init__(self, width, scaling):
        super().__init__()
        self.scaling = scaling
        self.gate = nn.Parameter(torch.ones(1))
        self.down, self.up, self.side = [nn.Linear(width, width) for _ in range(3)]
