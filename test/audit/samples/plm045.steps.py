"""Dimensions of one, each by a step of its own, written out."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Masked(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.mix = nn.Conv2d(width, width, 1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.cells = nn.AdaptiveAvgPool2d(4)

    def forward(self, x, kept, grid):
        rows, length, tall, wide = x.shape
        real = kept.unsqueeze(1).unsqueeze(1).repeat(1, self.heads, length, 1)  # expect: PLM045
        first = torch.unsqueeze(kept.unsqueeze(-1), -1).float()
        last = first.repeat(1, 1, tall, wide)  # expect: PLM045
        level = grid.mean(2, keepdim=True).mean(3, keepdim=True).repeat(1, 1, tall, wide)  # expect: PLM045
        pooled = self.pool(grid).repeat(1, 1, tall, wide)  # expect: PLM045
        most = F.adaptive_max_pool2d(grid, (1, 1)).repeat(1, 1, tall, wide)  # expect: PLM045
        # trap: the last dimension is as long as the rows are
        tiled = kept.unsqueeze(1).unsqueeze(1).repeat(1, self.heads, length, 2)
        # trap: of the two that are repeated one is new
        half = kept.unsqueeze(1).repeat(1, self.heads, 2)
        # trap: sixteen cells, laid side by side
        cells = self.cells(grid).repeat(1, 1, tall, wide)
        # trap: laid out in another shape, which writes it out
        flat = kept.unsqueeze(1).unsqueeze(1).repeat(1, self.heads, length, 1).view(-1, length)
        # trap: each copy is changed on its own
        own = kept.unsqueeze(1).unsqueeze(1).repeat(1, self.heads, length, 1)
        own[:, 0] = 0
        out = x * real + last * level - pooled * most + own
        return self.mix(out), tiled, half, cells, flat
