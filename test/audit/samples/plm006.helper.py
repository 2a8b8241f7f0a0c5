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
