import torch
import torch.nn.functional as F
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))


def rated(net, loader, device):
    # trap: each part has a rate of its own, and they may be all there is
    groups = [{"params": net.body.parameters(), "lr": 1e-5}, {"params": net.head.parameters()}]
    optimizer = torch.optim.AdamW(groups, lr=1e-4)
    for x, y in loader:
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
