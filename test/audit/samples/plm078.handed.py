import torch
from torch import nn


def rotary(length, width, stretch, device):
    rates = 1.0 / 10000 ** (torch.arange(0, width, 2, device=device) / width)
    angles = torch.outer(torch.arange(length, device=device) / (stretch or 1.0), rates)
    return angles.cos(), angles.sin()


class Turned(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        # trap: once
        self.cos, self.sin = self.tables()

    def tables(self, device=None):
        if self.settings.stretching is None:
            stretch = None
        else:
            stretch = self.settings.stretching["factor"]
        return rotary(self.settings.longest, self.settings.width, stretch, device)

    def forward(self, x, mask=None):
        if mask is None:
            cos, sin = self.tables(device=x.device)  # expect: PLM078
            x = x * cos[: x.size(1)] + x.flip(-1) * sin[: x.size(1)]
        return x


class Kept(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.cos = self.sin = None

    def tables(self, device=None):
        stretch = None if self.settings.stretching is None else self.settings.stretching["factor"]
        return rotary(self.settings.longest, self.settings.width, stretch, device)

    def forward(self, x):
        if self.cos is None:
            # trap: kept for the next forward
            self.cos, self.sin = self.tables(device=x.device)
        return x * self.cos[: x.size(1)] + x.flip(-1) * self.sin[: x.size(1)]


class Stretched(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.longest = settings.longest

    def tables(self, stretch, device=None):
        return rotary(self.settings.longest, self.settings.width, stretch, device)

    def forward(self, x, stretch):
        # trap: another one for each input
        cos, sin = self.tables(stretch, device=x.device)
        return x * cos[: x.size(1)] + x.flip(-1) * sin[: x.size(1)]


def train(settings, loader):
    nets = [Turned(settings).cuda(), Kept(settings).cuda(), Stretched(settings).cuda()]
    optimizer = torch.optim.AdamW(nets[0].parameters())
    for x in loader:
        loss = nets[0](x.cuda()).square().mean() + nets[1](x.cuda()).mean() + nets[2](x.cuda(), x.mean()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
