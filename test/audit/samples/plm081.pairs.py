import torch
from torch import nn


class Pairs(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lift = nn.Linear(2 * d, d)

    def forward(self, z):
        n = z.size(0)
        rows = z.unsqueeze(1).expand(n, n, -1).reshape(n * n, -1)  # expect: PLM081
        columns = z.unsqueeze(0).expand(n, n, -1).reshape(n * n, -1)  # expect: PLM081
        alike = (rows * columns).sum(-1)
        # trap: put beside each other, they must be written out
        left = z.unsqueeze(1).expand(n, n, -1).reshape(n * n, -1)
        right = z.unsqueeze(0).expand(n, n, -1).reshape(n * n, -1)
        both = self.lift(torch.cat([left, right], dim=-1))
        # trap: a layer wants its rows
        wide = z.unsqueeze(1).expand(n, n, -1).reshape(n * n, -1)
        # trap: the other is there already
        return alike + both.sum(-1), wide * both


def run(net, loader, optimizer):
    for x in loader:
        loss = sum(part.sum() for part in net(x.cuda()))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
