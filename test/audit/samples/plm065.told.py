"""What differentiates and steps is told by a flag whether it is the turn to."""

import torch


def whole(net: torch.nn.Module, batches, optimizer, scaler, rounds):
    for turn, (x, y) in enumerate(batches):
        loss = net(x, y)
        scaler(loss, optimizer, parameters=net.parameters(), update=(turn + 1) % rounds == 0)  # expect: PLM065
        if (turn + 1) % rounds == 0:
            optimizer.zero_grad()


def named(net, batches, optimizer, scaler, rounds):
    for turn, (x, y) in enumerate(batches):
        due = (turn + 1) % rounds == 0
        loss = net(x, y)
        scaler(loss, optimizer, due=due)  # expect: PLM065
        if due:
            optimizer.zero_grad()


def divided(net, batches, optimizer, scaler, rounds):
    for turn, (x, y) in enumerate(batches):
        loss = net(x, y)
        loss /= rounds
        # trap: a part of the mean each
        scaler(loss, optimizer, update=(turn + 1) % rounds == 0)
        if (turn + 1) % rounds == 0:
            optimizer.zero_grad()


def counted(net, batches, optimizer, scaler, rounds):
    for turn, (x, y) in enumerate(batches):
        loss = net(x, y)
        # trap: it knows how many there are
        scaler(loss, optimizer, rounds=rounds, update=(turn + 1) % rounds == 0)
        if (turn + 1) % rounds == 0:
            optimizer.zero_grad()


def cleared(net, batches, optimizer, scaler, rounds):
    for turn, (x, y) in enumerate(batches):
        loss = net(x, y)
        optimizer.zero_grad()
        # trap: nothing adds up
        scaler(loss, optimizer, update=(turn + 1) % rounds == 0)


def logged(net, batches, optimizer, meter, rounds):
    for turn, (x, y) in enumerate(batches):
        loss = net(x, y)
        # trap: without an optimizer it only writes down
        meter(loss, show=(turn + 1) % rounds == 0)
        if (turn + 1) % rounds == 0:
            optimizer.zero_grad()
