import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.scale = torch.ones(1, width)
        self.gamma = nn.Parameter(torch.ones(1, width))

    def forward(self, x):
        # trap: a plain tensor is no parameter, whatever its name: it stays behind, which another rule says
        x = self.layer(x) * self.scale.to(x.device)
        return x * self.gamma.to(x.device)  # expect: PLM036
