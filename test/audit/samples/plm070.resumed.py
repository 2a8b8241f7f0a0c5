import numpy as np
import torch
from torch import nn

from stored import exchange, resume


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, points, opt):
        opt.zero_grad()
        loss = (self.net(points) - points).square().mean()
        loss.backward()
        opt.step()
        return loss.detach()


class Plain(nn.Module):
    def forward(self, points):
        return points.square().mean()


def train(loader, path):
    flow = Flow().cuda()
    opt = torch.optim.SGD(flow.parameters(), lr=0.1)
    start = 0
    if path is not None:
        flow, opt, start = resume(path, flow, opt)
    for points in loader:
        points = points.cuda()
        order = np.random.permutation(points.size(1))
        points = points[:, order]  # expect: PLM070
        flow(points, opt)


def judge(loader, path):
    plain = Plain().cuda()
    if path is not None:
        plain, start = resume(path, plain)
    for points in loader:
        points = points.cuda()
        # trap: nothing is learnt in this loop
        print(plain(points[:, np.random.permutation(points.size(1))]))


def swapped(loader, opt):
    flow = Flow().cuda()
    plain, start = exchange(flow, opt)
    for points in loader:
        points = points.cuda()
        # trap: nobody says what it was exchanged for
        plain(points[:, np.random.permutation(points.size(1))], opt)
