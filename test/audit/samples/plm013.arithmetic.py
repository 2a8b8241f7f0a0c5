from functools import cache, lru_cache

import torch
import torch.nn.functional as F

COOL = 4.0


@lru_cache(maxsize=None)  # expect: PLM013
def softened(scores, heat):
    return F.softmax(scores / heat, dim=1)


@cache  # expect: PLM013
def spread(rows, centre):
    return torch.mean((rows - centre) * COOL, dim=-1)


@lru_cache(maxsize=8)
def decay(steps, rate):
    # trap: torch raises a number to a number here
    return torch.pow(rate * steps, torch.arange(4))


def curve(length, table):
    @lru_cache(maxsize=8)
    def row(at, scale):
        # trap: the tensor is the table around, the key two numbers
        return F.relu(table * scale - at)

    return torch.stack([row(at, 0.5) for at in range(length)])


@lru_cache(maxsize=8)
def smoothed(width, sigma):
    # trap: numbers, beside a tensor that is made here
    return F.softmax(-torch.arange(width) / sigma, dim=0)
