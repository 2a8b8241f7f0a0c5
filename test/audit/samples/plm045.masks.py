"""Masks that are written out for each head."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.queries = nn.Linear(width, width)

    def forward(self, x, keys, mask, padding, allowed, blocks, rows, kept):
        scores = self.queries(x) @ keys
        mask = mask.repeat(1, self.heads, 1, 1)  # expect: PLM045
        scores = scores.masked_fill(mask == 0, -1e9)
        hidden = padding.bool().repeat(1, 1, x.size(2), 1)  # expect: PLM045
        scores = scores.masked_fill(~hidden, -1e9)
        mask_of_heads = allowed.repeat_interleave(self.heads, dim=1)
        # trap: nothing says that it is a mask of one row
        scores = scores.masked_fill(mask_of_heads.flatten(0, 1), -1e9)
        heads_mask = torch.repeat_interleave(rows["mask"], self.heads, dim=1)  # expect: PLM045
        scores = torch.where(heads_mask, scores, -1e9)
        # trap: laid one after another, as the heads are
        scores = scores.masked_fill(blocks["mask"].repeat(self.heads, 1, 1), -1e9)
        tiled = kept["mask"].repeat(1, 2, 2)
        # trap: kept as it is, for who knows what
        self.last = tiled
        return scores.masked_fill(tiled, -1e9).softmax(-1)


def train(net, loader, optimizer):
    net = net.cuda()
    attention = Attention(64, 8).cuda()
    for x, keys, mask, padding, allowed, blocks, rows, kept in loader:
        out = attention(net(x.cuda()), keys.cuda(), mask.cuda(), padding.cuda(), allowed, blocks, rows, kept)
        loss = out.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
