import torch
from functools import lru_cache


@lru_cache(maxsize=None)  # expect: PLM013
def pad_mask(seq, pad):
    return (seq != pad).unsqueeze(-2)


# trap: the other part is the tensor
@lru_cache(maxsize=None)
def scaled(size, rows):
    return (size * torch.ones(3)).unsqueeze(0).expand(rows, -1)


TABLE = torch.zeros(8)


# trap: a table beside the parameter
@lru_cache(maxsize=None)
def shifted(size):
    return (TABLE + size).unsqueeze(0)


# trap: what is made of it is the tensor
@lru_cache(maxsize=None)
def summed(rows):
    return torch.tensor(rows).sum(dim=0)
