"""Caches that are asked in other words, and never filled."""

import math

import torch
from torch import nn


class Places(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.pe = None
        self.pe_cache = {}

    def extend_pe(self, x):
        key = (x.size(1), x.dtype, x.device)
        if key in self.pe_cache:  # expect: PLM078
            self.pe = self.pe_cache[key]
            return
        at = torch.arange(x.size(1), device=x.device).unsqueeze(1)
        self.pe = at * self.dim

    def forward(self, x):
        self.extend_pe(x)
        return x + self.pe


class KeptPlaces(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.pe = None
        self.pe_cache = {}

    def extend_pe(self, x):
        key = (x.size(1), x.dtype, x.device)
        # trap: it is put there below
        if key in self.pe_cache:
            self.pe = self.pe_cache[key]
            return
        at = torch.arange(x.size(1), device=x.device).unsqueeze(1)
        self.pe = self.pe_cache[key] = at * self.dim

    def forward(self, x):
        self.extend_pe(x)
        return x + self.pe


class Got(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.tables = {}
        self.styles = {}

    def table(self, n, x):
        found = self.tables.get(n)
        if found is not None:  # expect: PLM078
            return found.to(x)
        return torch.arange(n, device=x.device) * math.pi * self.dim

    def forward(self, x, style):
        # trap: what is not there is left out, and nothing is computed for it
        scale = self.styles.get(style)
        if scale is not None:
            x = x * scale
        return x + self.table(x.size(1), x)


class Caught(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.tables = {}

    def table(self, n, x):
        try:
            return self.tables[n]  # expect: PLM078
        except KeyError:
            pass
        return torch.arange(n, device=x.device) * math.pi * self.dim

    def forward(self, x):
        return x + self.table(x.size(1), x)


class CaughtAndKept(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.tables = {}

    def forward(self, x):
        n = x.size(1)
        try:
            table = self.tables[n]
        except KeyError:
            # trap: what is caught is put there
            table = self.tables[n] = torch.arange(n, device=x.device) * self.dim
        return x + table


class Preset(nn.Module):
    def __init__(self):
        super().__init__()
        self.presets = {}

    def forward(self, x, name):
        # trap: whoever made it fills it
        found = self.presets.get(name)
        if found is not None:
            return x * found
        return x


def preset(tables):
    net = Preset()
    for name, table in tables.items():
        net.presets[name] = table
    return net


class Shared(nn.Module):
    def __init__(self, fill):
        super().__init__()
        self.tables = {}
        fill(self.tables)

    def forward(self, x):
        # trap: who is handed it may fill it
        if x.size(1) in self.tables:
            table = self.tables[x.size(1)]
            return x + table
        return x + torch.arange(x.size(1), device=x.device)
