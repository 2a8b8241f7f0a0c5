import math

import torch
from torch import nn


def distances(heads, length, device):
    slopes = torch.tensor([2.0**-i for i in range(heads)], device=device)
    at = torch.arange(length, device=device)
    return slopes[:, None, None] * (at[None] - at[:, None]).abs()


class Biased(nn.Module):
    def __init__(self, heads, length):
        super().__init__()
        self.heads, self.length = heads, length

    def forward(self, x):
        return x - distances(self.heads, self.length, x.device)  # expect: PLM078


class Positions(nn.Module):
    def forward(self, x):
        b, t, d = x.shape
        at = torch.arange(t, device=x.device).float().unsqueeze(1)
        by = torch.exp(torch.arange(0, d, 2, device=x.device).float() * (-math.log(10000.0) / d))
        return x + torch.cat([torch.sin(at * by), torch.cos(at * by)], dim=-1)  # expect: PLM078


class Timestep(nn.Module):
    def forward(self, t, d):
        # trap: of what it is given
        by = torch.exp(torch.arange(0, d, device=t.device).float() / d)
        return torch.sin(t[:, None] * by)
