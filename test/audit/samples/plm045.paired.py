import torch
from torch import nn


class Pairing(nn.Module):
    def forward(self, ours, theirs, count):
        a = ours.repeat(1, 1, count)  # expect: PLM045
        b = theirs.repeat(1, count, 1)  # expect: PLM045
        # trap: joined, each copy is wanted
        c = torch.cat([ours.repeat(1, 1, count), theirs.repeat(1, count, 1)], 1)
        # trap: both along one dimension, whatever they have there
        d = ours.repeat(1, 1, count) + theirs.repeat(1, 1, count)
        # trap: two side by side, as it is written
        e = ours.repeat(1, 1, 2) + theirs.repeat(1, 2, 1)
        return (a + b).sum() + c.sum() + d.sum() + e.sum()


def train(loader, optimizer):
    net = Pairing().cuda()
    for rows in loader:
        rows = rows.cuda()
        loss = net(rows, rows, 8)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
