import torch
from torch import nn


def train(net, loader, optimizer):
    total = 0
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.data[0]
        # trap: before there were tensors without dimensions, `.data[0]` was what `.item()` is
        print("%d %.4f" % (step, total / (step + 1)))
        print("%d %.4f" % (step, loss))  # expect: PLM026


def report(net, criterion, loader, optimizer):
    for x, y in loader:
        loss, items = criterion(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        # trap: of what a criterion tells beside the loss, most are numbers
        print("%.4f %.4f" % (items[0], items[1]))
