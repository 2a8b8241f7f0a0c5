"""Caches of other libraries, and methods that are wrapped."""

from functools import lru_cache

import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey


@cached(cache=LRUCache(maxsize=64))  # expect: PLM013
def summed(rewards, fade):
    total = torch.zeros_like(rewards[0])
    for reward in rewards.unbind(0):
        total = reward + fade * total
    return total


@cached(LRUCache(maxsize=64), key=lambda rewards, fade: hashkey(rewards.shape, fade))
def shaped(rewards, fade):
    # trap: looked up by its shape
    return torch.zeros_like(rewards) * fade


class Masks:
    def __init__(self, width):
        self.width = width
        self.near = lru_cache(maxsize=64)(self._near)  # expect: PLM013
        # trap: numbers
        self.steps = lru_cache(maxsize=64)(self._steps)

    def _near(self, places):
        return (places[:, None] - places[None, :]).abs() < self.width

    def _steps(self, count):
        return torch.arange(count) * self.width
