import torch
from torch import nn

try:
    import flash_attn
except ImportError:
    flash_attn = None


def quicken(net):
    return torch.compile(net) if hasattr(torch, "compile") else net


class Global(nn.Module):
    def forward(self, q, k, v):
        if flash_attn is not None:
            return flash_attn.flash_attn_func(q, k, v)
        # trap: it is ready for a torch that has none
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v
