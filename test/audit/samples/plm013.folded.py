from functools import lru_cache

import torch
from einops import rearrange, repeat


@lru_cache(maxsize=None)  # expect: PLM013
def coarser(places):
    places = rearrange(places, "b (h i) c -> b h (i c)", i=2)
    return places.mean(1)


@lru_cache(maxsize=8)
def rows(count, width):
    # trap: numbers, beside what einops is given
    return repeat(torch.arange(width), "w -> n w", n=count)


@lru_cache(maxsize=8)
def folded(pattern, size):
    # trap: the pattern is a string
    return rearrange(torch.zeros(size, size), pattern)
