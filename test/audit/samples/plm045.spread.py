import torch
from torch import nn


class Tinted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3)

    def forward(self, x, gain, shade):
        x = self.conv(x)
        height, width = x.shape[-2:]
        gain = gain.repeat(1, 1, height, width)  # expect: PLM045
        shade = shade.repeat(1, 1, height, width)  # expect: PLM045
        return x * (gain + 1) + shade


class Tiled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3)

    def forward(self, x, tile, strip):
        x = self.conv(x)
        height, width = x.shape[-2:]
        rows, columns = height // 8, width // 8
        # trap: so many tiles beside each other
        x = x + tile.repeat(1, 1, rows, columns)
        # trap: along the other side than it is as long as
        strip = strip.repeat(1, 1, width, height)
        # trap: multiplied as matrices
        return x @ strip
