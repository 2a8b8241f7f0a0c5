import torch
import torch.nn as nn


class Rotary(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.dim = dim
        self.size = size
        self.grown = size
        # trap: once
        self.register_buffer("table", torch.arange(0, self.dim, 2), persistent=False)

    def forward(self, x):
        steps = torch.arange(0, self.dim, 2, device=x.device)  # expect: PLM078
        mask = torch.tril(torch.ones(self.size, self.size, device=x.device))  # expect: PLM078
        both = torch.triu(torch.ones((self.size, self.size), device=x.device))  # expect: PLM078
        # trap: as many as there are
        seen = torch.triu(torch.ones((x.shape[1], x.shape[1]), device=x.device))
        # trap: depends on the input
        positions = torch.arange(x.shape[1], device=x.device)
        # trap: may change
        self.grown = max(self.grown, x.shape[1])
        other = torch.arange(self.grown, device=x.device)
        # trap: two numbers
        pair = torch.arange(2, device=x.device)
        return steps, mask, positions, other, pair
