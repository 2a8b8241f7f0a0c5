import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.high = nn.Conv1d(width, width, 3)

    def forward(self, x, mask):
        seen = []
        for block in self.blocks:
            x = block(x)
            # trap: the network's own work, beside the block's
            x = x + torch.abs(mask * self.high(x)).sum()
            # trap: likewise, in a list
            seen.append(torch.relu(x))
        return x, seen


class Sparse(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        penalty = 0.0
        for block in self.blocks:
            penalty = penalty + torch.abs(block.weight).sum()  # expect: PLM034
        return x, penalty


def train(loader, optimizer):
    net, sparse = Decoder(8, 4).cuda(), Sparse(8, 4).cuda()
    for x in loader:
        y, penalty = sparse(net(x.cuda(), None)[0])
        optimizer.zero_grad()
        (y.mean() + penalty).backward()
        optimizer.step()
