import torch
import torch.nn.functional as F
from torch import nn

try:
    import flash_attn
except ImportError:
    flash_attn = None


class Local(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class Global(nn.Module):
    def forward(self, q, k, v):
        if flash_attn is not None:
            return flash_attn.flash_attn_func(q, k, v)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # expect: PLM044
        return weights @ v


class Chosen(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused

    def forward(self, q, k, v):
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v)
        # trap: somebody asked for it
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v
