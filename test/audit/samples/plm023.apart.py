import torch
import torch.nn.functional as F


def accumulate(net, batch, parts):
    x, y = batch
    (F.cross_entropy(net(x.cuda()), y.cuda()) / parts).backward()


def update(optimizer, schedule):
    optimizer.step()
    schedule.step()


def clearing_update(optimizer, schedule):
    optimizer.step()
    optimizer.zero_grad()
    schedule.step()


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    return sum(F.cross_entropy(net(x.cuda()), y.cuda()) for x, y in loader)


def train(net, optimizer, schedule, loader, judged, parts):
    for turn, batch in enumerate(loader):
        if turn % parts == 0:
            optimizer.zero_grad()
        accumulate(net, batch, parts)
        if (turn + 1) % parts == 0:
            update(optimizer, schedule)
            evaluate(net, judged)  # expect: PLM023


def train_cleared(net, optimizer, schedule, loader, judged, parts):
    for turn, batch in enumerate(loader):
        accumulate(net, batch, parts)
        if (turn + 1) % parts == 0:
            clearing_update(optimizer, schedule)
            # trap: cleared with the step
            evaluate(net, judged)


def train_cleared_below(net, optimizer, schedule, loader, judged, parts):
    for turn, batch in enumerate(loader):
        accumulate(net, batch, parts)
        if (turn + 1) % parts == 0:
            update(optimizer, schedule)
            optimizer.zero_grad()
            # trap: cleared beside the step
            evaluate(net, judged)
