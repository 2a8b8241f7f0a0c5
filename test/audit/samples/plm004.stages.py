import torch
from torch import nn


class Stages(nn.Module):
    def __init__(self, widths):
        super().__init__()
        for at, (narrow, wide) in enumerate(zip(widths, widths[1:])):
            self.add_module(f"stage{at}", nn.Conv2d(narrow, wide, 3))
        self.head = nn.Linear(widths[-1], 10)

    def forward(self, x):
        x = self.stage0(x)
        self.first_seen = x  # expect: PLM004
        x = self.stage1(x)
        # trap: without its graph
        self.last_seen = x.detach()
        # trap: how many there are
        self.many = self.count(x)
        return self.head(x.mean((2, 3)))

    def count(self, x):
        return x.shape[0]


class Held(nn.Module):
    def __init__(self, widths):
        super().__init__()
        for at, wide in enumerate(widths):
            setattr(self, f"stage{at}", nn.Linear(wide, wide))

    def forward(self, x):
        # trap: the loss is computed from this
        self.seen = self.stage0(x)
        return self.stage1(self.seen)


def train(loader):
    net = Held([8, 8]).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        loss = net(x).mean() + net.seen.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
