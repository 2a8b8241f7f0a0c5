import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(8, 8, 3, padding=1))

    def forward(self, x):
        return self.body(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Residual() for _ in range(4))

    def forward(self, x):
        skips = []
        for block in self.blocks:
            x = block(x)
            # trap: the next block begins with a layer that writes into what it is given
            skips.append(x.clone())
        return x, skips


def train(net, loader, optimizer):
    for batch in loader:
        out, _ = net(batch.to("cuda"))
        loss = out.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
