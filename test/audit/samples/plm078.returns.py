import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.turns = None
        self.waves = None

    def _fill(self, x):
        # trap: what is below is run for the first time, and for a longer input
        if self.turns is not None and x.shape[0] <= self.turns.shape[0]:
            return
        rates = 1.0 / 10000 ** (torch.arange(0, self.width, 2, device=x.device) / self.width)
        self.turns = torch.outer(torch.arange(x.shape[0], device=x.device), rates).cos()

    def _wave(self, x):
        # What it asks for is not what it makes.
        if self.turns is None and x.shape[0] == 0:
            return None
        rates = 1.0 / 10000 ** (torch.arange(0, self.width, 2, device=x.device) / self.width)  # expect: PLM078
        return rates

    def forward(self, x):
        self._fill(x)
        return x * self.turns[: x.shape[0]] + self._wave(x)


def train(loader, optimizer):
    net = Rotary(64).cuda()
    for x in loader:
        loss = net(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
