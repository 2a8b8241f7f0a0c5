"""Flags that are parameters, lists that are cut, and classes around a GradScaler."""

import torch
from torch.nn import functional as F


def descend(loss, optimizer, keep=True):
    optimizer.zero_grad()
    loss.backward(retain_graph=keep)  # expect: PLM007
    optimizer.step()


def train(net, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        descend(loss, optimizer)
