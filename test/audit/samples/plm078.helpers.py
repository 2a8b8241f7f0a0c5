"""Caches and tables of what is no module, or comes from another file."""

import torch
from elsewhere.rotary import precompute_freqs_cis
from torch import nn


class Anchors:
    def __init__(self):
        self._cache = {}
        self._kept_cache = {}

    def grid(self, size):
        if size in self._cache:  # expect: PLM078
            return self._cache[size]
        return torch.arange(size).cuda()

    def kept(self, size):
        if size in self._kept_cache:  # trap: it is put there
            return self._kept_cache[size]
        self._kept_cache[(size, self.sizes[0])] = torch.arange(size).cuda()
        return self._kept_cache[size]


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        cos, sin = precompute_freqs_cis(config.dim, config.length)  # trap: once
        self.register_buffer("cos", cos)

    def forward(self, x):
        cos, sin = precompute_freqs_cis(self.config.dim, self.config.length * 2)  # expect: PLM078
        own, _ = precompute_freqs_cis(self.config.dim, x.shape[1])  # trap: as long as the input
        return x * cos.to(x.device) + own
