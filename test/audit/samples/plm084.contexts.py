import contextlib
from contextlib import contextmanager, nullcontext

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def exchange(net, at, every):
    if at % every == 0:
        return nullcontext()
    return net.no_sync()


def first_instead_of_last(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        with exchange(net, i, n_accum):  # expect: PLM084
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def asked_of_the_next(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        # trap: what is asked is the number of the next turn
        with exchange(net, i+1, every=n_accum):
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def from_one(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader, start=1):
        # trap: both count alike
        ctx = exchange(net, i, n_accum)
        with ctx:
            (net(x).mean() / n_accum).backward()
        if i % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def under_a_name(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        ctx = exchange(net, i, n_accum)  # expect: PLM084
        with ctx:
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def quiet(net, turn, group, last):
    if not dist.is_initialized():
        return nullcontext()
    if (turn + 1) % group == 0 or last:
        return nullcontext()
    return net.no_sync()


def leftovers_too(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        final = i + 1 == len(loader)
        # trap: what is left over is asked for in both
        with quiet(net, i, n_accum, final):
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def unknown(net, turn, group):
    if net.wants_all:
        return nullcontext()
    if turn % group == 0:
        return nullcontext()
    return net.no_sync()


def asks_more(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        # trap: what else is asked, nobody here can tell
        with unknown(net, i, n_accum):
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


@contextmanager
def held_back(net, at, every):
    if (at + 1) % every == 0:
        with net.no_sync():
            yield
    else:
        yield


@contextlib.contextmanager
def put_off(net, at, every):
    if (at + 1) % every != 0:
        with net.no_sync():
            yield
    else:
        yield


def the_wrong_way_round(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        with held_back(net, i, n_accum):  # expect: PLM084
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def the_right_way_round(net: DistributedDataParallel, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        # trap: the turn the optimizer steps in
        with put_off(net, i, n_accum):
            (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def several_optimizers(net: DistributedDataParallel, loader, optimizers, n_accum):
    for group in loader:
        for i in range(1, n_accum + 1):
            if i % n_accum == 0:
                with net.no_sync():  # expect: PLM084
                    net(group[i - 1]).mean().backward()
            else:
                net(group[i - 1]).mean().backward()
        for opt in optimizers:
            opt.step()
        net.zero_grad()


def several_and_right(net: DistributedDataParallel, loader, optimizers, n_accum):
    for group in loader:
        for i in range(1, n_accum + 1):
            # trap: all but the last
            if i < n_accum:
                with net.no_sync():
                    net(group[i - 1]).mean().backward()
            else:
                net(group[i - 1]).mean().backward()
        for opt in optimizers:
            opt.step()
        net.zero_grad()


def sharded(net, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        net.set_requires_gradient_sync(i % n_accum == 0)  # expect: PLM084
        (net(x).mean() / n_accum).backward()
        if (i + 1) % n_accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def sharded_and_right(net, loader, optimizer, n_accum):
    for i, x in enumerate(loader):
        last = (i + 1) % n_accum == 0
        # trap: the turn of the step
        net.set_requires_gradient_sync(last)
        (net(x).mean() / n_accum).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
