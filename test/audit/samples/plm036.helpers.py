"""Casts by a helper, and of several layers at once."""

import torch
from torch import nn


def like(weight, x):
    return weight.to(x.dtype)  # expect: PLM036


def matching(x, y):
    # trap: what it is given is computed anew each time
    return x.to(y.dtype)


def once(weight, x):
    # trap: called when the module is made
    return weight.to(x.dtype)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.table = once(self.gain, torch.zeros(1))

    def forward(self, x):
        x = matching(x * 2, x)
        return nn.functional.normalize(x, dim=-1) * like(self.gain, x)


class Beside(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.down = nn.Linear(width, rank)
        self.up = nn.Linear(rank, width)

    def forward(self, x):
        if isinstance(self.down, nn.Linear):
            down, up = (layer.weight.to(x.dtype) for layer in (self.down, self.up))  # expect: PLM036
            return x @ down.t() @ up.t()
        # trap: layers that are asked themselves
        return self.up(self.down(x))


def train(net, loader, optimizer, device):
    net = nn.Sequential(net, Norm(64), Beside(64, 4)).to(device)
    for x in loader:
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
