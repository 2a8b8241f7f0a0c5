import torch
from torch import nn


class UNet(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.pools = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        perms = []
        for i in range(len(self.pools)):
            x = self.pools[i](x)
            # trap: goes when the forward returns
            perms.append(x)
        for perm in reversed(perms):
            print(perm.shape)
        return x


def train(net, loader, optimizer):
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
