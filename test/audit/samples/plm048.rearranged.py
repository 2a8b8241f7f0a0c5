import torch
from einops import rearrange
from torch import nn


class Compare(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.places = places
        self.scale = width**-0.5

    def forward(self, a, b, kind):
        a, b = a.cuda(), b.cuda()
        if kind == "where":
            pairs = self.places(a)
        elif kind == "both":
            whats = torch.einsum("b h x y d, b h u v d -> b h x y u v", a, b)
            pairs = whats + self.places(a)
        else:
            pairs = torch.einsum("b h x y d, b h u v d -> b h x y u v", a, b)
        rows = rearrange(pairs, "b h x y u v -> b h (x y) (u v)")
        scaled = self.scale * rows  # likely: PLM048
        return scaled.softmax(dim=-1)


class Plain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = width**-0.5

    def forward(self, a, b):
        pairs = rearrange(torch.einsum("b i d, b j d -> b i j", a.cuda(), b), "b i j -> b j i")
        scaled = pairs * self.scale  # expect: PLM048
        return scaled.softmax(dim=-1)


class Again(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = width**-0.5

    def forward(self, a, b, mask):
        rows = torch.einsum("b i d, b j d -> b i j", a.cuda(), b)
        rows = rearrange(rows, "b i j -> b j i")
        # trap: under the same name the first one goes
        rows = rows * self.scale
        # trap: an operand that is put in another order, and no product
        turned = rearrange(a, "b i d -> b d i")
        small = turned * self.scale
        # trap: it may not be a product at all
        other = a
        if mask is not None:
            other = a @ mask
        fewer = other * self.scale
        return rows.softmax(dim=-1) @ small, fewer
