import torch
import torch.nn.functional as F

ACCUMULATE = 8


def accumulate(net, batch):
    x, y = batch
    loss = F.cross_entropy(net(x.cuda()), y.cuda()) / ACCUMULATE
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


def differentiate(net, batch):
    x, y = batch
    F.cross_entropy(net(x.cuda()), y.cuda()).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


def update(optimizer):
    optimizer.step()
    optimizer.zero_grad()


def clipped_update(net, optimizer):
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def train(net, optimizer, stream):
    for turn, batch in enumerate(stream):
        accumulate(net, batch)  # expect: PLM079
        if (turn + 1) % ACCUMULATE == 0:
            update(optimizer)


def train_inline(net, optimizer, stream):
    for turn, (x, y) in enumerate(stream):
        loss = F.cross_entropy(net(x.cuda()), y.cuda()) / ACCUMULATE
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # expect: PLM079
        if (turn + 1) % ACCUMULATE == 0:
            update(optimizer)


def train_plain(net, optimizer, stream):
    for batch in stream:
        # trap: every turn steps
        differentiate(net, batch)
        update(optimizer)


def train_clipped(net, optimizer, stream):
    for turn, (x, y) in enumerate(stream):
        (F.cross_entropy(net(x.cuda()), y.cuda()) / ACCUMULATE).backward()
        if (turn + 1) % ACCUMULATE == 0:
            # trap: once, before the step
            clipped_update(net, optimizer)
