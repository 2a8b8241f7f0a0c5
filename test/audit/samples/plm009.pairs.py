import torch
from torch import nn


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(512, 8192)
        self.norm = nn.BatchNorm1d(8192, affine=False)

    def forward(self, one, two):
        a, b = self.trunk(one), self.trunk(two)
        cross = self.norm(a).T @ self.norm(b)
        cross.div_(one.shape[0])
        return (torch.diagonal(cross) - 1).square().sum(), cross


class Examples(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(512, 128)

    def forward(self, one, two):
        a, b = self.trunk(one), self.trunk(two)
        near = a @ b.T
        return -torch.diagonal(near).mean(), near


def pairs_of_features(loader, every):
    net = Features().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (one, two) in enumerate(loader):
        optimizer.zero_grad()
        loss, cross = net(one.cuda(), two.cuda())  # expect: PLM009
        loss.backward()
        optimizer.step()
        if step % every == 0:
            print(torch.diagonal(cross).mean().item())


def pairs_of_examples(loader, every):
    net = Examples().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (one, two) in enumerate(loader):
        optimizer.zero_grad()
        # trap: a number for each two examples of a batch is little
        loss, near = net(one.cuda(), two.cuda())
        loss.backward()
        optimizer.step()
        if step % every == 0:
            print(torch.diagonal(near).mean().item())


def wanted(loader, every):
    net = Features().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    mean = torch.zeros(8192, 8192, device="cuda")
    for one, two in loader:
        optimizer.zero_grad()
        # trap: all of it goes on
        loss, cross = net(one.cuda(), two.cuda())
        mean.lerp_(cross.detach(), 0.01)
        (loss + (cross - mean).square().mean()).backward()
        optimizer.step()
