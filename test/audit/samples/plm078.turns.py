import torch
from torch import nn


def turns(width, end):
    speeds = 10000.0 ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(torch.arange(end).float(), speeds)
    return torch.polar(torch.ones_like(angles), angles)


class Decoder(nn.Module):
    def __init__(self, settings, layers):
        super().__init__()
        self.settings = settings
        self.layers = nn.ModuleList(layers)
        # trap: made once
        self.turns = turns(settings.width, settings.longest)

    def forward(self, x, start: int = 0):
        table = turns(self.settings.width, start + x.shape[1])[start:].to(x.device)  # expect: PLM078
        for layer in self.layers:
            x = layer(x, table)
        return x


class Spun(nn.Module):
    def forward(self, x, pace):
        # trap: how far it goes is computed from the input, not counted
        return x * turns(x.shape[-1], pace)


class Grown(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.table = turns(width, 128)

    def forward(self, x, start=0):
        if self.table.shape[0] < start + x.shape[1]:
            # trap: for an input that is longer than any before, and kept
            self.table = turns(self.width, start + x.shape[1])
        return x * self.table[start : start + x.shape[1]]
