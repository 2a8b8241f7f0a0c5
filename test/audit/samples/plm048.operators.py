"""What a forward makes in order to call it runs its constructor as often as the forward."""

import torch
import torch.nn as nn


class Volume(object):
    def __init__(self, left, right, levels=4):
        self.levels = [Volume.product(left, right)]
        for _ in range(levels - 1):
            self.levels.append(nn.functional.avg_pool2d(self.levels[-1], 2))

    def __call__(self, at):
        return [level[at] for level in self.levels]

    @staticmethod
    def product(left, right):
        volume = torch.matmul(left.transpose(1, 2), right)
        scaled = volume / 16.0  # expect: PLM048
        return scaled.unsqueeze(1)


class SmallVolume:
    def __init__(self, left, right):
        self.volume = SmallVolume.product(left, right)

    def __call__(self, at):
        return self.volume[at]

    @staticmethod
    def product(left, right):
        # trap: the smaller operand is scaled
        left = left / 4.0
        volume = torch.matmul(left.transpose(1, 2), right)
        return volume.unsqueeze(1)


class Fitted:
    def __init__(self, left, right):
        # trap: made once, before any forward
        volume = torch.matmul(left.transpose(1, 2), right)
        scaled = volume / 16.0
        self.volume = scaled.unsqueeze(1)

    def __call__(self, at):
        return self.volume[at]


class Matcher(nn.Module):
    def __init__(self, dim, bank):
        super().__init__()
        self.encoder = nn.Linear(dim, dim)
        self.fitted = Fitted(bank, bank)

    def forward(self, left, right, at):
        left, right = self.encoder(left), self.encoder(right)
        volume = Volume(left, right)
        small = SmallVolume(left, right)
        return volume(at), small(at), self.fitted(at)


def train(loader, optimizer, bank, dim):
    net = Matcher(dim, bank).cuda()
    for left, right, at, wanted in loader:
        levels, small, fitted = net(left.cuda(), right.cuda(), at)
        loss = sum((one - wanted.cuda()).abs().mean() for one in levels) + small.mean() + fitted.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
