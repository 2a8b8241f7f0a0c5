"""What a network that steps by itself reports under a name may be a number."""

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value):
        self.total += value  # expect: PLM001
        self.count += 1


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, optimizer):
        optimizer.zero_grad()
        entropy = self.layer(x).square().mean()
        entropy.backward()
        optimizer.step()
        return {"entropy": entropy.item()}


def train(loader):
    net = Flow().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    meter = Meter()
    for x in loader:
        out = net(x.cuda(), optimizer)
        entropy = out["entropy"]
        meter.update(entropy)
    return meter.total / meter.count


def train_plainly(net, loader, optimizer):
    net.cuda()
    meter = Meter()
    for x in loader:
        loss = net(x.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss)  # expect: PLM001
    return meter.total / meter.count
