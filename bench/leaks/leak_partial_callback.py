import torch
from torch import nn

import functools

pending = []


def report(value, step):
    return float(value), step


def fit(net, opt, steps):
    for step in range(steps):
        loss = net(torch.randn(16, 20)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        pending.append(functools.partial(report, loss, step))  # leak


network = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.Linear(64, 2))
fit(network, torch.optim.AdamW(network.parameters()), 150)
