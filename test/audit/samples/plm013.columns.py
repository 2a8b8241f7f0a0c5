import functools

import torch
import torch.nn as nn


class Triples(nn.Module):
    def __init__(self):
        super().__init__()
        self.things = nn.Embedding(8, 8)

    @functools.lru_cache(maxsize=64)  # expect: PLM013
    def distance(self, triples):
        heads = triples[:, 0]
        return self.things(heads)

    # trap: one of several, by its number
    @functools.lru_cache(maxsize=64)
    def one(self, place, names):
        first = names[0]
        part = names[1:3]
        return first, part, place

    # trap: columns of a store that is only read from
    @functools.lru_cache(maxsize=64)
    def column(self, store):
        values = store[:, 0]
        return list(values)
