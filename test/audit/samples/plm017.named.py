import torch
from torch import nn


class Reporting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.infos = {}
        self.kept = {}
        self.seen = []

    def reset_infos(self):
        self.infos = {}

    def add_info(self, name, value):
        # trap: by name, and reset by whoever reads them
        self.infos[name] = value

    def forward(self, x, step):
        out = self.layer(x)
        self.add_info("out", out)
        # trap: without its graph
        self.seen.append(out.detach())
        # trap: a number
        self.seen.append(out.shape[0])
        self.kept[step] = out  # expect: PLM017
        return out


def train(net, loader, optimizer):
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        net(x.cuda(), step).mean().backward()
        optimizer.step()
