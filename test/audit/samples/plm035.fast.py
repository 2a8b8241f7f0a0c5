import torch
from torch import nn


class Unroll(nn.Module):
    def forward(self, x, fast=True):
        noise = torch.randn(x.size(0)).to(x.device)  # expect: PLM035
        if fast:
            return x + noise
        # a note: only for who asks for the slow way
        state = torch.zeros(x.size(0)).to(x.device)  # expect: PLM035
        return state + x
