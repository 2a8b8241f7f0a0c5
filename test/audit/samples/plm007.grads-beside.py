"""Derivatives of several runs in one file, each of which has a graph of its own."""

import copy

import torch
from torch.nn import functional as F


class Learner:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def adapt(self, x, y, steps):
        net = copy.deepcopy(self.net)
        loss = F.cross_entropy(net(x), y)
        slopes = torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)  # expect: PLM007
        fast = [p - 0.1 * g for p, g in zip(net.parameters(), slopes)]
        for _ in range(steps):
            loss = F.cross_entropy(net(x, fast), y)
            slopes = torch.autograd.grad(loss, fast)
            fast = [p - 0.1 * g for p, g in zip(fast, slopes)]
        return fast

    def adapt_twice(self, x, y):
        scores = self.net(x)
        loss = F.cross_entropy(scores, y)
        # trap: the scores are differentiated once more
        slopes = torch.autograd.grad(loss, list(self.net.parameters()), retain_graph=True)
        shift = torch.autograd.grad(scores.square().mean(), list(self.net.parameters()))
        return [a + b for a, b in zip(slopes, shift)]

    def slopes_of(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        # trap: whoever gets the loss may differentiate it
        slopes = torch.autograd.grad(loss, list(self.net.parameters()), retain_graph=True)
        return loss, slopes

    def train(self, loader):
        for x, y in loader:
            loss, slopes = self.slopes_of(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            (loss + sum(slope.norm() for slope in slopes)).backward()
            self.optimizer.step()
