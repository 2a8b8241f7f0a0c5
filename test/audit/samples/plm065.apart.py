import torch
import torch.nn.functional as F

ACCUMULATE = 8


def accumulate(net, batch):
    x, y = batch
    loss = F.cross_entropy(net(x.cuda()), y.cuda())
    loss.backward()  # expect: PLM065


def accumulate_part(net, batch, parts):
    x, y = batch
    loss = F.cross_entropy(net(x.cuda()), y.cuda()) / parts
    # trap: divided by what it is given
    loss.backward()


def differentiate(net, batch):
    x, y = batch
    # trap: cleared on every turn
    F.cross_entropy(net(x.cuda()), y.cuda()).backward()


def differentiate_alone(net, batch):
    x, y = batch
    # trap: every turn steps
    F.cross_entropy(net(x.cuda()), y.cuda()).backward()


def update(net, optimizer):
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def only_step(optimizer):
    optimizer.step()


def train(net, stream):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for turn, batch in enumerate(stream):
        accumulate(net, batch)
        if (turn + 1) % ACCUMULATE == 0:
            update(net, optimizer)


def train_divided(net, stream):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for turn, batch in enumerate(stream):
        accumulate_part(net, batch, ACCUMULATE)
        if (turn + 1) % ACCUMULATE == 0:
            update(net, optimizer)


def train_cleared(net, stream):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for turn, batch in enumerate(stream):
        optimizer.zero_grad()
        differentiate(net, batch)
        if (turn + 1) % ACCUMULATE == 0:
            only_step(optimizer)


def train_plain(net, stream):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in stream:
        differentiate_alone(net, batch)
        update(net, optimizer)
