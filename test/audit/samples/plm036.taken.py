import torch
import torch.nn.functional as F
from torch import nn


class Shared(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        layer = nn.Linear(width, width)
        self.rows = layer.weight
        self.given = kernel.weight
        self.table = torch.zeros(width)

    def forward(self, x):
        x = F.linear(x, self.rows.to(torch.bfloat16))  # expect: PLM036
        # trap: nobody knows what it was taken from
        x = F.linear(x, self.given.to(torch.bfloat16))
        # trap: no parameter
        return x + self.table.to(torch.bfloat16)
