import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.scale = nn.Linear(8, 8)

    def forward(self, x):
        skips = []
        for block in self.blocks:
            x = block(x)
            skips.append(x.clone())  # expect: PLM081
        return self.scale(x), skips


class Writing(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        skips = []
        for block in self.blocks:
            x = block(x)
            # trap: what was copied is written into below
            skips.append(x.clone())
            x += 1
        return x, skips


class Filling(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        kept = []
        for block in self.blocks:
            x = block(x)
            # trap: the copy itself is written into
            kept.append(x.clone())
        kept[0].mul_(0.5)
        return x, kept


def train(net, loader, optimizer):
    for batch in loader:
        out, _ = net(batch.to("cuda"))
        loss = out.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
