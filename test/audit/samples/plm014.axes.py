"""What is kept of sizes: numbers, whatever they are called."""

import torch


class UpFirDn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kernel, up, pad):
        up_x, up_y = up
        pad_x0, pad_x1, pad_y0, pad_y1 = pad
        height, width = x.shape[-2:]
        # trap: how far out it goes on each side
        ctx.out_size = (height * up_y + pad_y0 + pad_y1, width * up_x + pad_x0 + pad_x1)
        # trap: given as numbers
        ctx.up = (up_x, up_y)
        ctx.kept = x  # expect: PLM014
        return x.sum() * kernel

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.kept, None, None, None
