from functools import cache, lru_cache

import torch


@lru_cache(maxsize=None)  # expect: PLM013
def gaps(ids):
    return (ids == 0).unsqueeze(1)


@cache  # expect: PLM013
def halves(x):
    return (x / 2).clamp(0, 1)


@cache
def steps(n):
    # trap: a number beside a tensor
    return (torch.arange(8) == n).unsqueeze(0)


@cache
def scaled(n):
    # trap: a number and a tensor
    return (n * torch.arange(8)).unsqueeze(0)


@cache
def share(n):
    # trap: an array has it too
    return (n / 2).sum()
