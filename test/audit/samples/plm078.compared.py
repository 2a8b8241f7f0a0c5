"""A length that is compared with one that nobody keeps."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.cached_length = None
        self.kept_length = None

    def forward(self, x):
        length = x.shape[1]
        if length != self.cached_length:  # expect: PLM078
            self.table = torch.outer(torch.arange(length), torch.arange(self.dim)).to(x.device)
        if length != self.kept_length:  # trap: it is kept
            self.kept_length = length
            self.other = torch.outer(torch.arange(length), torch.arange(self.dim)).to(x.device)
        return x * self.table + self.other


class Turned(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.known_length = None
        self.last_length = None
        self.mode = None
        self.limit = None

    def forward(self, x):
        length = x.shape[1]
        if self.known_length != length:  # expect: PLM078
            self.table = torch.outer(torch.arange(length), torch.arange(self.dim)).to(x.device)
        if self.last_length != length:  # trap: it is kept
            self.last_length = length
            self.other = torch.outer(torch.arange(length), torch.arange(self.dim)).to(x.device)
        if self.mode != "plain":  # trap: a setting
            self.scaled = torch.sigmoid(x)
        if self.limit != length:  # trap: nothing is kept for it
            x = torch.relu(x)
        return x * self.table + self.other + self.scaled
