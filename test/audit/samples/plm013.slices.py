import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key_cache = {}
        self.seen_cache = {}

    def forward(self, key: torch.Tensor, positions: torch.Tensor):
        # trap: a tensor, whatever it was begun as
        self.key_cache[:, positions, :] = key
        self.seen_cache[key] = positions  # expect: PLM013
        return self.key_cache
