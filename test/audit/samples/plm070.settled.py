import numpy as np
import torch
import torch.nn.functional as F

from rules import strength_for


def mixed(x, share):
    order = np.random.permutation(x.shape[0])
    return share * x + (1 - share) * x[order]  # expect: PLM070


def mixed_rarely(x):
    order = np.random.permutation(x.shape[0])
    # trap: nobody knows how often
    return x + x[order]


def mixed_never(x):
    order = np.random.permutation(x.shape[0])
    # trap: off as it is written down
    return x - x[order]


def mixed_by_default(x):
    order = np.random.permutation(x.shape[0])
    return x * x[order]  # expect: PLM070


def train(model, loader, optimizer, dataset, blend=0.2):
    strength = strength_for(len(dataset))
    extra = 0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        luck = strength_for(x.shape[0])
        if strength > 0:
            x = mixed(x, 0.5)
        if luck > 0.5:
            x = mixed_rarely(x)
        if extra > 0:
            x = mixed_never(x)
        if blend > 0.0:
            x = mixed_by_default(x)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
