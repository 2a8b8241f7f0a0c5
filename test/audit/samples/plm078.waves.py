"""Tables of sines by functions of the file."""

import functools
import math

import numpy as np
import torch
from torch import nn


def sinusoids(length, width):
    def angle(at, by):
        return at / np.power(10000, 2 * (by // 2) / width)

    table = np.array([[angle(at, by) for by in range(width)] for at in range(length)])
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return torch.FloatTensor(table)


def waves(length, width, device=None):
    at = torch.arange(length, device=device)[:, None]
    by = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10000.0) / width))
    return torch.cat([(at * by).sin(), (at * by).cos()], dim=-1)


@functools.lru_cache
def kept(length, width):
    return torch.outer(torch.arange(length), torch.arange(width)).sin()


def phase(step, width):
    return math.cos(step / width)


def kernel(width, frequency):
    return torch.cos(torch.linspace(-1, 1, width) * frequency)


class Encoder(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.width, self.longest = width, longest
        self.frequency = nn.Parameter(torch.ones(1))
        # trap: once
        self.register_buffer("table", sinusoids(longest, width), persistent=False)

    def forward(self, x, times):
        _, length = x.shape[0], x.shape[1]
        x = x + sinusoids(length, self.width).to(x.device)  # expect: PLM078
        x = x + waves(x.size(1) + 1, self.width, device=x.device)[1:]  # expect: PLM078
        x = x + sinusoids(self.longest, self.width).to(x.device)[:length]  # expect: PLM078
        # trap: of what it is given
        x = x + waves(times, self.width, x.device)
        # trap: kept, or a number
        x = x * phase(length, self.width) + kept(length, self.width)
        # trap: it learns
        x = x * kernel(self.width, self.frequency)
        if length > self.longest:
            # trap: for what is longer than the table
            return x + sinusoids(length, self.width).to(x.device)
        return x + self.table[:length]


class Growing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.table = sinusoids(512, width)

    def forward(self, x):
        # trap: kept for the next
        self.table = sinusoids(x.shape[1], self.width).to(x.device)
        return x + self.table
