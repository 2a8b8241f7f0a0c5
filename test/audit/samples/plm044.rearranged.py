import torch
from einops import rearrange
from einops.layers.torch import Rearrange
from torch import nn


class Places(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask = nn.Conv2d(width, width, 1)
        self.key = nn.Conv2d(width, width, 1)
        self.value = nn.Conv2d(width, width, 1)

    def forward(self, x):
        x = x.cuda()
        asked = rearrange(self.ask(x), "b c h w -> b (h w) c")
        keys = rearrange(self.key(x), "b c h w -> b c (h w)")
        values = rearrange(self.value(x), "b c h w -> b (h w) c")
        weights = torch.softmax(torch.bmm(asked, keys) / x.shape[1] ** 0.5, dim=-1)  # expect: PLM044
        return torch.bmm(weights, values)


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.split = Rearrange("b n (h d) -> b h n d", h=heads)
        self.turned = Rearrange("b n (h d) -> b h d n", h=heads)

    def forward(self, x):
        q, k, v = self.project(x.cuda()).chunk(3, dim=-1)
        near = self.split(q) @ self.turned(k) * q.shape[-1] ** -0.5
        weights = near.softmax(dim=-1)  # expect: PLM044
        return weights @ self.split(v)


class Mixed(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.experts = nn.Parameter(torch.zeros(width, experts))
        self.values = nn.Parameter(torch.zeros(experts, width))

    def forward(self, x):
        # trap: laid out in heads and not turned over; a layer, not each place with each
        places = rearrange(x.cuda(), "b n (h d) -> b h n d", h=4)
        weights = torch.softmax(torch.matmul(places, self.experts), dim=-1)
        return weights @ self.values
