"""The clearing stands in the first of the turns whose gradients are summed."""

import torch.nn.functional as F


def first(model, batches, optimizer, parts):
    while True:
        for part in range(parts):
            x, y = next(batches)
            loss = F.cross_entropy(model(x), y) / parts
            if part == 0:  # expect: PLM022
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
        optimizer.step()


def counted(model, loader, optimizer, parts):
    for at, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / parts
        if at % parts == 0:  # expect: PLM022
            optimizer.zero_grad()
        loss.backward()
        if (at + 1) % parts == 0:
            optimizer.step()


def before(model, batches, optimizer, parts):
    while True:
        for part in range(parts):
            x, y = next(batches)
            # trap: before the forward
            if part == 0:
                optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y) / parts
            loss.backward()
        optimizer.step()


def after(model, loader, optimizer, parts):
    for at, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / parts
        loss.backward()
        if (at + 1) % parts == 0:
            optimizer.step()
        # trap: right after the step
        if (at + 1) % parts == 0:
            optimizer.zero_grad()


def fixed(model, batches, optimizer):
    while True:
        for part in range(4):
            x, y = next(batches)
            loss = F.cross_entropy(model(x), y) / 4
            # trap: three of the four have gradients beside their forward in any case
            if part == 0:
                optimizer.zero_grad()
            loss.backward()
        optimizer.step()
