"""Contexts that functions hand out."""

from contextlib import contextmanager, nullcontext
from functools import partial

import torch


def context_for(device, dtype):
    if device == "cpu":
        return nullcontext()
    return torch.autocast(device, dtype=dtype)


@contextmanager
def halved():
    with torch.autocast("cuda", dtype=torch.float16):
        yield


@contextmanager
def timed(name):
    # trap: the context is left before what it is put around runs
    with torch.autocast("cuda", enabled=True):
        print(name)
    yield


def plain():
    # trap: nothing is cast
    return torch.autocast("cuda", enabled=False)


def by_lambda(net, loader, optimizer, device):
    context = lambda: context_for(device, torch.float16)
    for batch in loader:
        with context():
            loss = net(batch).mean()
            loss.backward()  # expect: PLM061
        optimizer.step()


def by_partial(net, loader, optimizer, device):
    context = partial(context_for, device, torch.float16)
    for batch in loader:
        with context():
            loss = net(batch).mean()
            loss.backward()  # expect: PLM061
        optimizer.step()


def by_generator(net, loader, optimizer):
    for batch in loader:
        with halved():
            loss = net(batch).mean()
            loss.backward()  # expect: PLM061
        with timed("step"):
            loss = net(batch).mean()
            loss.backward()
        with plain():
            loss = net(batch).mean()
            loss.backward()
        with context_for("cuda", torch.float16):
            loss = net(batch).mean()
        # trap: below the block
        loss.backward()
        optimizer.step()


class Runner:
    def __init__(self, net, optimizer, device):
        self.net = net
        self.optimizer = optimizer
        self.device = device

    def context(self):
        return torch.autocast(self.device, dtype=torch.float16)

    def run(self, loader):
        for batch in loader:
            with self.context():
                loss = self.net(batch).mean()
                loss.backward()  # expect: PLM061
            self.optimizer.step()
