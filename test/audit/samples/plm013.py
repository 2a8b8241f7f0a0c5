import functools
from functools import lru_cache

import torch


@lru_cache(maxsize=None)  # expect: PLM013
def norm(x: torch.Tensor):
    return x.norm()


@functools.cache  # expect: PLM013
def double(x: "torch.Tensor"):
    return x * 2


# trap: numbers are found again
@lru_cache
def table(n: int):
    return torch.arange(n)


# trap: no cache
def plain(x: torch.Tensor):
    return x


# trap: nobody knows what it takes
@lru_cache
def unknown(x):
    return x


seen_types = {}


def persistent_id(obj):
    if isinstance(obj, type):
        # trap: asked for its type, so it may be anything
        seen_types[obj] = True
    return obj.dtype


# trap: a tuple of numbers, which is found again
@lru_cache(maxsize=None)
def span(bounds):
    return torch.arange(bounds[0], bounds[1]) * 0.5, bounds[1:]


@lru_cache(maxsize=None)  # expect: PLM013
def edges(spans):
    return spans[..., 0] - 0.5 * spans[..., 1]
