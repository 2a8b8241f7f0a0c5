import torch
from torch import nn


def rotary_tables(length, width):
    angles = torch.outer(torch.arange(length).float(), torch.arange(width).float())
    return angles.cos(), angles.sin()


def make_window(net):
    return net.window


class Block(nn.Module):
    def __init__(self, length, width, rotary, lpips, net):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.lpips = lpips
        self.window = make_window(net)
        self.idle = None
        if rotary:
            cos, sin = rotary_tables(length, width)
            self.cos = cos
        else:
            self.cos = None
        cached, sin = rotary_tables(length, width)
        self.register_buffer("sin", sin)

    def forward(self, x):
        y = self.mix(x) * self.cos.to(x.device)  # expect: PLM042
        # trap: a buffer has moved with the module
        y = y * self.sin.to(x.device)
        # trap: a network that was handed in
        y = y + self.lpips.to(x.device)(x)
        if self.idle is not None:
            # trap: nothing that anybody has made
            y = y + self.idle.to(x.device)
        return y * self.window.to(x.device)  # expect: PLM042
