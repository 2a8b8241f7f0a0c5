"""Tensors that are put together."""

from functools import lru_cache

import torch


@lru_cache(maxsize=64)  # expect: PLM013
def joints(places, weights):
    return torch.einsum("bik,ji->bjk", [places, weights])


@lru_cache(maxsize=64)  # expect: PLM013
def both(left, right):
    return torch.cat([left, right], dim=-1)


@lru_cache(maxsize=64)  # expect: PLM013
def lengths(arrows):
    return torch.linalg.vector_norm(arrows, dim=-1)


@lru_cache(maxsize=64)
def contracted(equation, size):
    # trap: a string and a number
    return torch.einsum(equation, torch.eye(size), torch.eye(size))


@lru_cache(maxsize=64)
def grid(height, width):
    # trap: numbers, of which tensors are made that are then joined
    return torch.stack([torch.arange(height), torch.full((height,), width)])
