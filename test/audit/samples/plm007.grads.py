"""The one derivative of a file, taken by torch.autograd.grad."""

import torch
from torch.nn import functional as F


def train(net, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        weights = list(net.parameters())
        slopes = torch.autograd.grad(loss, weights, retain_graph=True)  # expect: PLM007
        for weight, slope in zip(weights, slopes):
            weight.grad = slope
        optimizer.step()
