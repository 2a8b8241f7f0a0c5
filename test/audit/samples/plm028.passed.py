import numpy as np
import torch
from torch import nn


def bent(found, wanted, weight):
    gap = weight * (found - wanted)
    size = gap.abs()
    near = (size.data < 1.0).float()
    return (near * gap**2 + (1 - near) * size).sum()


def box_gap(found, wanted, kinds):
    hit = kinds > 0
    return bent(found[hit], wanted[hit], 1.0)  # expect: PLM028, PLM028


def spread(rows, size):
    return np.zeros((size, rows.shape[0])) + rows.max()


def host_gap(rows, kinds):
    hit = kinds > 0
    # trap: an array has a shape and a maximum as well
    return spread(rows[hit], 4)


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x, wanted, kinds, rows):
        self.counts = host_gap(rows, rows)
        return box_gap(self.body(x), wanted, kinds)


def train(loader):
    net = Finder().cuda()
    rule = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, wanted, kinds, rows in loader:
        rule.zero_grad(set_to_none=True)
        loss = net(x.cuda(), wanted.cuda(), kinds.cuda(), rows.numpy())
        loss.backward()
        rule.step()
