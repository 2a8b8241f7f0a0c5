"""A copy of what a forward is given, where something writes into the one or the other."""

from torch import nn


class Written(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.relu = nn.ReLU(inplace=True)
        self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(width, width))

    def forward(self, x):
        residual = x.clone()
        return residual + self.relu(x)

    def other(self, x):
        kept = x.clone()
        kept[:, 0] = 0
        return self.norm(x) + kept


class InBlock(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        residual = x.clone()
        return residual + self.block(x)
