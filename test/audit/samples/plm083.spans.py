import time
from codetiming import Timer

import torch

clock = time.perf_counter


def elapsed(since):
    return clock() - since  # likely: PLM083


def train(model, loader, optimizer, stats):
    model.cuda().train()
    for i, x in enumerate(loader):
        begun = clock()
        loss = model(x.cuda()).mean()
        stats["forward"] = elapsed(begun)
        stats.began = time.monotonic()
        loss.backward()
        stats.backward = time.monotonic() - stats.began  # likely: PLM083
        optimizer.step()


def train_by_blocks(model, loader, optimizer):
    model.cuda().train()
    for x in loader:
        with Timer("forward"):  # likely: PLM083
            loss = model(x.cuda()).mean()
        # trap: the loss is read in it
        with Timer("backward"):
            loss.backward()
            print(loss.item())
        optimizer.step()


def train_waiting(model, loader, optimizer, stats):
    model.cuda().train()
    for x in loader:
        stats.began = time.monotonic()
        loss = model(x.cuda()).mean()
        loss.backward()
        torch.cuda.synchronize()
        # trap: it has waited
        stats.took = time.monotonic() - stats.began
        optimizer.step()


def carried(model, loader, optimizer, stats):
    model.cuda().train()
    begun = clock()
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        # trap: from turn to turn, and what is read below waits
        stats.append(clock() - begun)
        begun = clock()
        stats.append(loss.item())

