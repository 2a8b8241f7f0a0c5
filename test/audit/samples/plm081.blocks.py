"""What blocks keep of their input."""

import torch
from torch import nn


def conv3x3(width):
    return nn.Conv2d(width, width, 3, padding=1, bias=False)


def activated(width):
    return nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(width, width, 3, padding=1))


class Block(nn.Module):
    def __init__(self, width, downsample=None):
        super().__init__()
        self.conv = conv3x3(width)
        self.body = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.downsample = downsample

    def forward(self, x):
        residual = x.clone()  # expect: PLM081
        out = self.body(self.conv(x))
        if self.downsample is not None:
            residual = self.downsample(x)
        out += residual
        return out


class Activated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = activated(width)

    def forward(self, x):
        # trap: the body begins with a layer that writes into what it is given
        residual = x.clone()
        return self.body(x) + residual


class Summed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True))

    def forward(self, x):
        # trap: it is added to
        total = x.clone()
        total += self.body(x)
        return total


class Handed(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        # trap: nothing is known of the body
        residual = x.clone()
        return self.body(x) + residual


def train(nets: list[Block], others: list[Activated], loader, optimizer):
    for batch in loader:
        x = batch.cuda()
        loss = torch.zeros((), device=x.device)
        for net in nets:
            loss = loss + net(x).mean()
        for other in others:
            loss = loss + other(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
