import copy

import torch
import torch.nn.functional as F


def meta(network, optimizer, pairs, lr):
    for (x, y), (u, v) in pairs:
        inner = copy.deepcopy(network)
        inner_optimizer = torch.optim.Adam(inner.parameters(), lr=lr)
        loss = F.cross_entropy(inner(x), y)
        inner_optimizer.zero_grad()  # expect: PLM022
        loss.backward()
        inner_optimizer.step()


def made_after(network, x, y, loader):
    for x, y in loader:
        loss = F.cross_entropy(network(x), y)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        optimizer.zero_grad()  # expect: PLM022, by hand
        loss.backward()
        optimizer.step()


def before(network, optimizer, loader):
    for x, y in loader:
        # trap: cleared before the forward
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()


def after_step(network, optimizer, loader):
    for x, y in loader:
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        # trap: after the step
        optimizer.zero_grad()


def adding(network, optimizer, loader):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(network(x), y)
        if step % 4 == 0:
            # trap: gradients add up in between
            optimizer.step()
            optimizer.zero_grad()
        loss.backward()
