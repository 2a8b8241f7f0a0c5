import torch
from torch import nn


def off_diagonal(square):
    n = square.shape[0]
    return square.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(512, 8192)
        self.norm = nn.BatchNorm1d(8192, affine=False)

    def forward(self, one, two):
        a, b = self.trunk(one), self.trunk(two)
        cross = self.norm(a).T @ self.norm(b)
        return (torch.diagonal(cross) - 1).square().sum(), cross


def train(loader, rank, every):
    net = Twins().cuda(rank)
    net = nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (one, two) in enumerate(loader):
        optimizer.zero_grad()
        loss, cross = net.forward(one.cuda(), two.cuda())  # expect: PLM009
        loss.backward()
        optimizer.step()
        if step % every == 0:
            print(off_diagonal(cross).mean().item())
