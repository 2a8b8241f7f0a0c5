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


def get_extent(x):
    return x.shape[-1] * 2


def get_lowered(x):
    return x.detach() - 1


def get_halves(x):
    return x / 2


class Measured(nn.Module):
    def __init__(self):
        super().__init__()
        self.extent = 0.0
        self.lowered = torch.zeros(4)
        self.halves = torch.zeros(4)

    def forward(self, x):
        # trap: the getter gives a number
        self.extent = 0.9 * self.extent + 0.1 * get_extent(x)
        # trap: the getter cuts it off
        self.lowered = 0.9 * self.lowered + 0.1 * get_lowered(x).mean(0)
        self.halves = 0.9 * self.halves + 0.1 * get_halves(x).mean(0)  # expect: PLM018
        return x


def adapt(net, x):
    out = net(x)
    kept = out[out.mean(1) > 0]
    return kept, kept.size(0)


class Adapted(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.counted = 0

    def forward(self, x):
        out, count = adapt(self.net, x)
        # trap: the function hands back a number there
        self.counted += count
        return out
