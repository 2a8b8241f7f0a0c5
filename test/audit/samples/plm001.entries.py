"""What a loss function hands back beside the loss is summed up by a meter, name by name."""

import torch
from torch import nn


def flow_loss(preds, target):
    loss = 0.0
    for pred in preds:
        loss = loss + (pred - target).abs().mean()
    error = torch.sum((preds[-1] - target) ** 2, dim=1).sqrt()
    figures = {"error": error.mean(), "near": (error < 1).float().mean()}
    return loss, figures


def flow_loss_read(preds, target):
    loss = (preds[-1] - target).abs().mean()
    error = torch.sum((preds[-1] - target) ** 2, dim=1).sqrt()
    return loss, {"error": error.mean().item(), "near": (error < 1).float().mean().item()}


class Meters:
    def __init__(self):
        self.sums = {}

    def push(self, figures):
        for name in figures:
            if name not in self.sums:
                self.sums[name] = 0.0
            self.sums[name] += figures[name]

    def push_all(self, figures):
        for name, value in figures.items():
            self.sums[name] = self.sums.get(name, 0.0)
            self.sums[name] += value

    def push_read(self, figures):
        for name, value in figures.items():
            value = value.item()
            self.sums[name] += value


def train(net, loader, optimizer):
    net = nn.DataParallel(net).cuda()
    meters = Meters()
    for x, y in loader:
        optimizer.zero_grad()
        preds = net(x.cuda())
        loss, figures = flow_loss(preds, y.cuda())
        loss.backward()
        optimizer.step()
        meters.push(figures)  # expect: PLM001
        meters.push_all(figures)  # expect: PLM001
        meters.push_all({"loss": loss})  # expect: PLM001
        # trap: numbers
        meters.push_all({"loss": loss.item()})
        # trap: read in there
        meters.push_read(figures)
        # trap: numbers already
        _, shown = flow_loss_read(preds, y.cuda())
        meters.push(shown)
