import torch
from torch import nn


class Bent(nn.Module):
    def __init__(self, told, width):
        super().__init__()
        self.scale = nn.Linear(told, width)
        self.shift = nn.Linear(told, width)
        self.blend = nn.Conv2d(width, width, 1)

    def forward(self, x, told):
        size = x.size()
        scale = self.scale(told)
        scale = scale.unsqueeze(-1).unsqueeze(-1).repeat(1, 1, size[2], size[3])  # expect: PLM045
        shift = self.shift(told).unsqueeze(2)
        shift = shift.unsqueeze(3)
        shift = shift.repeat(1, 1, size[2], size[3])  # expect: PLM045
        edge = torch.unsqueeze(torch.unsqueeze(self.shift(told), 2), -1)
        return x * scale + shift - edge.repeat(1, 1, size[2], size[3])  # expect: PLM045


class Tiled(nn.Module):
    def __init__(self, told, width):
        super().__init__()
        self.rows = nn.Linear(told, width)

    def forward(self, x, told):
        # trap: the new dimension is another than those it is laid out along
        tiles = self.rows(told).unsqueeze(1).unsqueeze(1).repeat(1, 1, 2, 2)
        marked = self.rows(told).unsqueeze(-1).unsqueeze(-1).repeat(1, 1, 4, 4)
        # trap: each copy is written to
        marked[:, :, 0, 0] = 0
        return x + tiles.mean() + marked
