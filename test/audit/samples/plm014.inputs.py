"""What setup_context is given, kept part by part."""

import torch
from torch.nn import functional as F


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(gate, up, scale):
        return F.silu(gate) * up.clone() * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.gate, ctx.up, ctx.scale = inputs  # expect: PLM014

    @staticmethod
    def backward(ctx, grad):
        sig = torch.sigmoid(ctx.gate)
        return grad * ctx.up * sig * ctx.scale, grad * ctx.gate * sig * ctx.scale, None


class Saved(torch.autograd.Function):
    @staticmethod
    def forward(gate, up):
        return F.silu(gate) * up

    @staticmethod
    def setup_context(ctx, inputs, output):
        # trap: saved
        gate, up = inputs
        ctx.save_for_backward(gate, up)

    @staticmethod
    def backward(ctx, grad):
        gate, up = ctx.saved_tensors
        sig = torch.sigmoid(gate)
        return grad * up * sig, grad * gate * sig


class Sized(torch.autograd.Function):
    @staticmethod
    def forward(size, dim, x):
        return x.narrow(dim, 0, size)

    @staticmethod
    def setup_context(ctx, inputs, output):
        # trap: a size and an axis
        ctx.size, ctx.dim = inputs[:2]

    @staticmethod
    def backward(ctx, grad):
        return None, None, grad
