"""A derivative for each of several losses."""

import torch


def train(net, loader, optimizer):
    for x, y in loader:
        errors = (net(x.cuda()) - y.cuda()).square()
        weights = list(net.parameters())
        for one in errors:
            loss = one.mean()
            # trap: all of them go through the same graph
            slopes = torch.autograd.grad(loss, weights, retain_graph=True)
            for weight, slope in zip(weights, slopes):
                weight.grad = slope if weight.grad is None else weight.grad + slope
        optimizer.step()
