import torch
from torch import nn

try:
    from xformers.ops import memory_efficient_attention
except ImportError:
    memory_efficient_attention = None
    torch.backends.cuda.enable_flash_sdp(True)


class Global(nn.Module):
    def forward(self, q, k, v):
        if memory_efficient_attention is not None:
            import xformers.ops as ops

            return ops.memory_efficient_attention(q, k, v)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # expect: PLM044
        return weights @ v
