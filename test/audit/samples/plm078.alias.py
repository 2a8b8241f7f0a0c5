"""A cache that is looked up under a name of its own, and never filled."""

import torch
import torch.nn as nn


def causal(n):
    return torch.full((n, n), float("-inf")).triu(1)


class NeverFilled(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.src_mask = None

    def forward(self, src):
        mask = self.src_mask
        if mask is None or mask.size(0) != len(src):  # expect: PLM078
            mask = self.hide(len(src)).to(src.device)
        return self.encoder(src, mask)

    def hide(self, n):
        return causal(n)


class ByFunction(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.shade = None

    def forward(self, src):
        shade = self.shade
        if shade is None:  # expect: PLM078
            shade = causal(src.size(0)).to(src.device)
        return self.encoder(src, shade)


class ByWalrus(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.veil = None

    def forward(self, src):
        if (veil := self.veil) is None:  # expect: PLM078
            veil = torch.full((len(src), len(src)), float("-inf"), device=src.device).triu(1)
        return self.encoder(src, veil)


class Filled(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.cover = None

    def forward(self, src):
        cover = self.cover
        # trap: kept
        if cover is None or cover.size(0) != len(src):
            cover = self.cover = torch.ones(len(src), len(src), device=src.device).triu(1)
        return self.encoder(src, cover)


class Begun(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.hidden = None

    def forward(self, x):
        hidden = self.hidden
        # trap: a state that each input begins with
        if hidden is None:
            hidden = torch.zeros(x.size(0), 512, device=x.device)
        return self.cell(x, hidden)


class Given(nn.Module):
    def __init__(self, encoder, lid=None):
        super().__init__()
        self.encoder = encoder
        self.lid = lid

    def forward(self, src):
        lid = self.lid
        # trap: others may have given one
        if lid is None:
            lid = torch.ones(len(src), len(src), device=src.device).triu(1)
        return self.encoder(src, lid)
