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


class Weighted(nn.Module):
    def __init__(self, classes):
        super().__init__()
        weight = torch.ones(classes)
        weight[-1] = 0.1
        self.class_weight = weight

    def forward(self, x, y):
        # trap: likewise, by another name before
        return nn.functional.cross_entropy(x, y, self.class_weight.to(x.device))
