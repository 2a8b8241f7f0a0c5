import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.assign = nn.Linear(dim, dim)
        self.regular = nn.ModuleList([nn.Linear(dim, 1)])
        self.losses = {}
        self.trace = []

    def forward(self, x):
        s = self.assign(x)
        for layer in self.regular:
            # trap: the same name every time, so each replaces the one before
            self.losses[type(layer).__name__] = layer(s)
        self.trace.append(s)  # expect: PLM017
        return s
