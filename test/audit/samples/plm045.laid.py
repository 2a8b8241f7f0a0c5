"""Copies that are laid out in another shape have to be written, whichever way they are made."""

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.zeros(1, 4, dim))
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, kernel, tokens):
        n = tokens.shape[1]
        wide = self.proj(x)
        pos = wide.mean(1)
        # trap: flattened below
        pos = pos.unsqueeze(1).repeat(1, n, 1)
        pos = pos.flatten(0, 1)
        b, c = kernel.shape[0], x.shape[1]
        # trap: flattened at once
        rows = kernel.view(b, 1, 3, 3).repeat(1, c, 1, 1).view(b * c, 1, 3, 3)
        near = wide.mean(1)
        spread = near.unsqueeze(1).repeat(1, n, 1)  # expect: PLM045
        return (spread * tokens).sum() + pos.sum() + rows.sum()


def train(net, loader, optimizer):
    net.cuda()
    for x, kernel, tokens in loader:
        loss = net(x.cuda(), kernel.cuda(), tokens.cuda())
        loss.backward()
        optimizer.step()
