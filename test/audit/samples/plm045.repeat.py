import torch
import torch.nn as nn


class Tokens(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.table = nn.Parameter(torch.zeros(4, width))

    def forward(self, x):
        token = self.token.repeat(x.size(0), 1, 1)  # expect: PLM045
        mean = x.mean(dim=-1, keepdim=True).repeat(1, 1, 8)  # expect: PLM045
        # trap: no dimension of one
        table = self.table.repeat(x.size(0), 1)
        # trap: already a view
        wide = self.token.expand(x.size(0), -1, -1)
        # trap: repeated in two directions
        both = self.token.repeat(x.size(0), x.size(1), 1)
        return token, mean, table, wide, both
