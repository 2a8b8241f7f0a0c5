"""What is added in place is still made of the input; a count is not."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Linear(dim, dim)
        self.positions = nn.Parameter(torch.zeros(1, 16, dim))
        self.head = nn.Linear(dim, 10)

    def forward(self, x, seen):
        x = self.embed(x)
        x += self.positions
        self.features = x  # expect: PLM004
        seen += 1
        self.turns = seen  # trap: counts
        mask = torch.ones(16)
        mask *= self.limit()
        self.mask = mask  # trap: nothing of the input
        return self.head(x)

    def limit(self):
        return 0.5
