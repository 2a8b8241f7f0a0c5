import torch
from torch import nn
from torch.nn import functional as F


class Head(nn.Module):
    def __init__(self, lm_head):
        super().__init__()
        self.weight = lm_head.weight

    def forward(self, x):
        return F.linear(x.float(), self.weight.to(torch.float32))  # likely: PLM036


class Scale(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.weight = norm.weight

    def forward(self, x):
        # trap: a norm keeps few numbers, and is computed so on purpose
        return x.float() * self.weight.to(torch.float32)


class Kept(nn.Module):
    def __init__(self, lm_head):
        super().__init__()
        # trap: once
        self.weight = nn.Parameter(lm_head.weight.to(torch.float32))

    def forward(self, x):
        return F.linear(x.float(), self.weight)
