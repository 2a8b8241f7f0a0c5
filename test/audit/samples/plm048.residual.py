"""Branches of a residual that are scaled where they are added."""

from torch import nn


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(self.up(x).relu())


class Block(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.mixer = Mixer(width)
        self.norm = nn.LayerNorm(width)
        self.res_scale = 1.4 / depth**0.5

    def forward(self, x):
        x = x + self.mixer(self.norm(x)) * self.res_scale  # expect: PLM048
        # trap: nothing is scaled
        x = x + self.mixer(x)
        # trap: its input is scaled
        return x + self.mixer(self.norm(x) * self.res_scale)
