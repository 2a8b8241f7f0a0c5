import torch
from torch import nn

rnn = nn.LSTM(8, 8).cuda()
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)


def renew(state):
    """Detaches nothing, whatever it says."""
    return tuple(one.clone() for one in state)  # expect: PLM006


def cut(state):
    return tuple(one.detach() for one in state)


def train(batches, hidden):
    for x in batches:
        hidden = renew(hidden)
        out, hidden = rnn(x.cuda(), hidden)
        out.mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def train_cut(batches, hidden):
    for x in batches:
        # trap: the helper cuts it off
        hidden = cut(hidden)
        out, hidden = rnn(x.cuda(), hidden)
        out.mean().backward()
        optimizer.step()
        optimizer.zero_grad()


policy = nn.LSTM(8, 8)
hidden = None


def cut_step(x, optimizer, state):
    out, state = policy(x, state)
    out.mean().backward()
    optimizer.step()
    return out.mean().item(), tuple(one.detach() for one in state)


def begun_step(x, optimizer, state):
    state = torch.zeros(1, 4, 8)
    out, state = policy(x, state)
    out.mean().backward()
    optimizer.step()
    return out.mean().item(), state


def own_step(x, optimizer):
    global hidden
    # trap: cut off before it is used
    hidden = None if hidden is None else tuple(one.detach() for one in hidden)
    out, hidden = policy(x, hidden)
    out.mean().backward()
    optimizer.step()


def driven(loader, optimizer):
    state = None
    other = None
    for x in loader:
        # trap: it comes back without its graph
        loss, state = cut_step(x, optimizer, state)
        own_step(x, optimizer)
    for x in loader:
        # trap: the step begins it anew
        loss, state = begun_step(x, optimizer, state)
