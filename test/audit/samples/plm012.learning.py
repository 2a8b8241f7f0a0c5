"""Hooks of the parameters that learn, in every epoch."""

import torch
import torch.nn.functional as F
from torch import nn


def one_epoch(holder, loader, optimizer):
    net = holder.get_network()
    for weight in net.parameters():
        if weight.requires_grad:
            weight.register_hook(torch.nan_to_num)  # expect: PLM012
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fit(holder, loader, optimizer):
    for _ in range(10):
        one_epoch(holder, loader, optimizer)


def listed(net, loader, optimizer):
    for _ in range(10):
        learning = [p for p in net.parameters() if p.requires_grad]
        for weight in learning:
            weight.register_hook(torch.nan_to_num)  # expect: PLM012
        for x, y in loader:
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()


def fold(loader, width):
    net = nn.Linear(width, 10)
    wrapped = nn.DataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for weight in wrapped.parameters():
        if weight.requires_grad:
            # trap: of a network that lives no longer than the fold
            weight.register_hook(torch.nan_to_num)
    for x, y in loader:
        F.cross_entropy(wrapped(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


class Folds:
    def fold(self, loader, width):
        self.net = nn.Linear(width, 10)
        for weight in self.net.parameters():
            if weight.requires_grad:
                # trap: the same, of an attribute
                weight.register_hook(torch.nan_to_num)
        for x, y in loader:
            F.cross_entropy(self.net(x), y).backward()

    def all(self, loaders):
        for loader in loaders:
            self.fold(loader, 32)


def folds(loaders):
    for loader in loaders:
        fold(loader, 32)
