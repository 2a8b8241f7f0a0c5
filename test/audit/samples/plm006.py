import torch
import torch.nn as nn


def train(loader, optimizer):
    rnn = nn.GRU(8, 8)
    state = torch.zeros(1, 4, 8)
    for x, y in loader:
        out, state = rnn(x, state)  # expect: PLM006
        loss = (out - y).pow(2).mean()
        loss.backward()
        optimizer.step()


def kept(model, loader, optimizer):
    model.train()
    hidden = None
    for x, y in loader:
        out, hidden = model(x, hidden)  # expect: PLM006
        loss = (out - y).pow(2).mean()
        loss.backward(retain_graph=True)
        optimizer.step()


def detached(loader, optimizer):
    rnn = nn.GRU(8, 8)
    state = torch.zeros(1, 4, 8)
    for x, y in loader:
        # trap: cut off at every step
        state = state.detach()
        out, state = rnn(x, state)
        (out - y).pow(2).mean().backward()
        optimizer.step()


def anew(loader, optimizer):
    rnn = nn.GRU(8, 8)
    for x, y in loader:
        # trap: a new state each time
        state = torch.zeros(1, 4, 8)
        out, state = rnn(x, state)
        (out - y).pow(2).mean().backward()
        optimizer.step()


def unknown(model, loader, optimizer):
    model.train()
    hidden = None
    for x, y in loader:
        # The network may detach it itself: a note.
        out, hidden = model(x, hidden)  # expect: PLM006
        (out - y).pow(2).mean().backward()
        optimizer.step()


def cut(model, loader, optimizer):
    model.train()
    hidden = None
    for x, y in loader:
        # trap: cut off before it is used again
        out, hidden = model(x, hidden)
        hidden = hidden.detach()
        (out - y).pow(2).mean().backward()
        optimizer.step()


def train_with_memory(network, optimizer, batches, items):
    for x in batches:
        # trap: kept for a second backward, which the network may well detach (a note)
        out, items = network(x, items)  # expect: PLM006
        out.mean().backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def asked_first(loader, optimizer):
    rnn = nn.GRU(8, 8)
    state = None
    for x, y in loader:
        out, state = rnn(x, state if state is not None else None)  # expect: PLM006
        (out - y).pow(2).mean().backward()
        optimizer.step()


def asked_and_cut(loader, optimizer):
    rnn = nn.GRU(8, 8)
    state = None
    for x, y in loader:
        # trap: cut off where there is one
        out, state = rnn(x, state.detach() if state is not None else None)
        (out - y).pow(2).mean().backward()
        optimizer.step()


def as_asked(loader, optimizer, stateful=False):
    rnn = nn.GRU(8, 8)
    state = None
    for x, y in loader:
        # trap: begun anew in each turn, unless somebody wants it otherwise
        out, state = rnn(x, state if stateful else None)
        (out - y).pow(2).mean().backward()
        optimizer.step()


def unrolled(loader, optimizer):
    cell = nn.GRUCell(8, 8)
    state = None
    for xs, y in loader:
        for t, x in enumerate(xs):
            # trap: begun anew by the first of each turn
            state = cell(x, state if t > 0 else None)
        (state - y).pow(2).mean().backward()
        optimizer.step()
