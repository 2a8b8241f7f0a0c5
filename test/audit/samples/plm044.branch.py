"""Attentions of one class: each branch has its own reason."""

import torch
from einops import rearrange
from flash_attn import flash_attn_func
from polar_attention import flash_attn_with_polar
from torch import nn


class Polar(nn.Module):
    def __init__(self, width=128, heads=4, polar=None):
        super().__init__()
        self.heads = heads
        self.polar = polar
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        q, k, v = rearrange(self.project(x), "b n (three h d) -> three b h n d", three=3, h=self.heads)
        if self.polar is not None:
            return flash_attn_with_polar(q, k, v, angles=self.polar(q.shape[-2]))
        weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)  # expect: PLM044
        return weights @ v


class Either(nn.Module):
    def __init__(self, width=128, heads=4, polar=None):
        super().__init__()
        self.heads = heads
        self.polar = polar
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        q, k, v = rearrange(self.project(x), "b n (three h d) -> three b h n d", three=3, h=self.heads)
        if self.polar is not None:
            mixed = flash_attn_with_polar(q, k, v, angles=self.polar(q.shape[-2]))
        else:
            weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)  # expect: PLM044
            mixed = weights @ v
        return mixed


class Fallback(nn.Module):
    def __init__(self, width=128, heads=4, use_flash=True):
        super().__init__()
        self.heads = heads
        self.use_flash = use_flash
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        q, k, v = rearrange(self.project(x), "b n (three h d) -> three b h n d", three=3, h=self.heads)
        if self.use_flash:
            mixed = flash_attn_func(q, k, v)
        else:
            # trap: for where the fused one is not wanted
            weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
            mixed = weights @ v
        return mixed


def train(first: Polar, second: Either, third: Fallback, loader, optimizer):
    for batch in loader:
        x = batch.cuda()
        loss = first(x).mean() + second(x).mean() + third(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
