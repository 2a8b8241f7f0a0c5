"""Rows that are interleaved, and what is given by another word for `is not None`."""

import torch
from torch import nn


def exists(value):
    return value is not None


class Placed(nn.Module):
    def __init__(self, length=196, width=64):
        super().__init__()
        self.places = nn.Parameter(torch.zeros(1, length, width))
        self.rows = nn.Parameter(torch.zeros(length, width))

    def forward(self, x, bias=None):
        x = x + torch.repeat_interleave(self.places, x.shape[0], dim=0)  # expect: PLM045
        scale = x.mean(dim=1, keepdim=True)
        x = x * scale.repeat_interleave(x.shape[1], dim=1)  # expect: PLM045
        # trap: of many rows each comes several times
        many = self.rows.repeat_interleave(2, dim=0)
        # trap: its last dimension is not the one that is one long
        wide = scale.repeat_interleave(2, dim=2)
        if exists(bias):
            x = x + bias.repeat(x.shape[0], 1, 1)  # expect: PLM045
        return x.mean() + many.mean() + wide.mean()


def train(net: Placed, bias, loader, optimizer):
    for batch in loader:
        loss = net(batch.cuda(), bias=bias)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
