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
