import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.size = width

    def shift(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.einsum("b i d, b j d -> b i j", q, k)
        shifted = scores - scores.amax(dim=-1, keepdim=True).detach()  # expect: PLM048
        return torch.einsum("b i j, b j d -> b i d", shifted.softmax(dim=-1), v)

    def mask(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2))
        masked = scores.masked_fill(mask, -1e9)  # expect: PLM048
        return torch.softmax(masked, dim=-1) @ v

    def order(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.einsum("b i d, b j d -> b i j", q, k).contiguous()
        scaled = scores / math.sqrt(self.size)  # expect: PLM048
        return torch.softmax(scaled, dim=-1) @ v

    def same(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2))
        # trap: under the same name the one before goes
        scores = scores.masked_fill(mask, -1e9)
        return torch.softmax(scores, dim=-1) @ v

    def both(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2))
        # trap: the scores are read again below
        masked = scores.masked_fill(mask, -1e9)
        return torch.softmax(masked, dim=-1) @ v, scores.mean()

    def rest(self, x, bias):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        mixed = torch.bmm(q, k.transpose(1, 2))
        # trap: no softmax is taken of it, and who knows what else
        moved = mixed + bias
        return moved @ v

    def forward(self, x, mask, bias):
        both, mean = self.both(x, mask)
        return (
            self.shift(x)
            + self.mask(x, mask)
            + self.order(x)
            + self.same(x, mask)
            + both
            + mean
            + self.rest(x, bias)
        )


def train(net: Attention, loader, optimizer):
    for x, mask, bias in loader:
        loss = net(x, mask, bias).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
