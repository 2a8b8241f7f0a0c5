"""Masked by either way, in a method named as the fused one."""

import torch
import torch.nn.functional as F
from torch import nn


class Written(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        return self.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), mask)

    def scaled_dot_product_attention(self, q, k, v, mask):
        scores = q @ k.mT
        scores = scores.masked_fill(~mask, -1e9) if mask.dtype == torch.bool else scores + mask
        weights = scores.softmax(-1)  # expect: PLM044
        weights = self.dropout(weights) if self.training else weights
        return weights @ v


class Chosen(nn.Module):
    def __init__(self, width, capped):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.capped = capped

    def forward(self, x):
        return self.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))

    def scaled_dot_product_attention(self, q, k, v):
        if not self.capped:
            return F.scaled_dot_product_attention(q, k, v)
        # trap: beside the fused one
        return (q @ k.mT).softmax(-1) @ v


class Inherited(nn.MultiheadAttention):
    def forward(self, q, k, v):
        if self.training:
            # trap: beside one that the class above has
            return (q @ k.mT).softmax(-1) @ v
        return self.scaled_dot_product_attention(q, k, v)


def train(loader, optimizer):
    layers = [Written(64).cuda(), Chosen(64, True).cuda(), Inherited(64, 1).cuda()]
    for x, mask in loader:
        loss = sum(layer(x.cuda(), mask.cuda()).mean() for layer in layers)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
