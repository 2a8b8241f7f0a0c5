import torch
from torch import nn


class Masks(nn.Module):
    def forward(self, x, form, p):
        flat = torch.empty(x.size(1), x.size(2), device=x.device).bernoulli_(p) / p
        x = x * flat.repeat(x.size(0), 1, 1)  # expect: PLM045
        picked = form.view(x.size(0), 1, 1, 1).repeat(1, 1, *x.shape[2:])  # expect: PLM045
        # trap: three dimensions, the first of them tiled
        tiles = torch.rand(2, x.size(1), x.size(2), device=x.device).repeat(x.size(0) // 2, 1, 1)
        # trap: the last of its own dimensions is tiled
        doubled = torch.rand(x.size(1), x.size(2), device=x.device).repeat(x.size(0), 1, 2)
        # trap: what the star repeats is of any size
        wide = form.view(x.size(0), 1, 2, 2).repeat(1, 1, *x.shape[2:])
        return picked, tiles, doubled, wide
