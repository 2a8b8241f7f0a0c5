import contextlib

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


@contextlib.contextmanager
def exchanging(module, now):
    if now or not isinstance(module, DDP):
        yield
    else:
        with module.no_sync():
            yield


def putting_off(module, wait):
    if wait and hasattr(module, "no_sync"):
        return module.no_sync()
    return contextlib.nullcontext()


def first(net, loader, optimizer, parts):
    net = DDP(net.cuda())
    for batch in loader:
        optimizer.zero_grad()
        for part in range(parts):
            with exchanging(net, now=part == 0):  # expect: PLM084
                net(batch[part]).mean().backward()
        optimizer.step()


def later(net, loader, optimizer, parts):
    net = DDP(net.cuda())
    for batch in loader:
        optimizer.zero_grad()
        for part in range(parts):
            # trap: waits in all but the last
            with putting_off(net, part != parts - 1):
                net(batch[part]).mean().backward()
        optimizer.step()


def last(net, loader, optimizer, parts):
    net = DDP(net.cuda())
    for batch in loader:
        optimizer.zero_grad()
        for part in range(parts):
            # trap: in the last one, whatever the flag is called
            with exchanging(net, part == parts - 1):
                net(batch[part]).mean().backward()
        optimizer.step()


def never(net, loader, optimizer, parts):
    net = DDP(net.cuda())
    for batch in loader:
        optimizer.zero_grad()
        for part in range(parts):
            with exchanging(net, part == parts):  # expect: PLM084
                net(batch[part]).mean().backward()
        optimizer.step()
