import torch
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.nodes = 0
        self.codes = None
        self.recent = []
        self.mean = torch.zeros(dim)

    def forward(self, graph, x):
        h = self.proj(x)
        # trap: a number
        self.nodes += graph.num_nodes()
        _, found = h.max(1)
        if self.codes is None:
            # trap: positions have no graph
            self.codes = found.flatten()
        else:
            self.codes = torch.cat([self.codes, found.flatten()])
        # trap: the last few
        self.recent = (self.recent + [x])[-10:]
        self.mean = 0.9 * self.mean + 0.1 * h.mean(0)  # expect: PLM018
        return h
