import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, x):
        return self.body(x), x


class Coach(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.pair = Pair(width)
        self.rule = torch.optim.SGD(self.pair.parameters(), lr=0.1)
        self.smooth = 0.0
        self.level = 0.0
        self.read = 0.0
        self.scale = 0.0

    def turn(self, x, weight):
        self.rule.zero_grad()
        made, _ = self.pair(x)
        self.fit = torch.mean(made)
        self.smooth = 0.99 * self.smooth + 0.01 * self.fit  # expect: PLM018
        self.whole = self.fit + 0.1 * made.square().mean()
        self.level = 0.9 * self.level + 0.1 * self.whole  # expect: PLM018
        # trap: read as a number before it is kept
        self.number = torch.mean(made).item()
        self.read = 0.9 * self.read + 0.1 * self.number
        # trap: computed by no layer
        self.share = torch.mean(weight)
        self.scale = 0.9 * self.scale + 0.1 * self.share
        self.whole.backward()
        self.rule.step()


def train(loader):
    coach = Coach(8).cuda()
    for x, weight in loader:
        coach.turn(x.cuda(), weight)
