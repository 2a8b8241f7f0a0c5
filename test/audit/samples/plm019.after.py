"""A look at a network below the loop that trains it."""

import torch
from torch.nn import functional as F


def epoch(net, loader, optimizer, x, y):
    net.train()
    for batch, labels in loader:
        loss = F.cross_entropy(net(batch.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    clean = net(x)  # expect: PLM019
    print(F.cross_entropy(clean, y).item())


def careful(net, loader, optimizer, x, y):
    net.train()
    for batch, labels in loader:
        loss = F.cross_entropy(net(batch.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        # trap: nothing is recorded
        clean = net(x)
    print(F.cross_entropy(clean, y).item())


def attacked(net, loader, optimizer, x, y):
    net.train()
    for batch, labels in loader:
        loss = F.cross_entropy(net(batch.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    # trap: an example is made of its gradient
    clean = net(x)
    F.cross_entropy(clean, y).backward()
    print((x + x.grad.sign()).mean().item())


def handed(net, loader, optimizer, x):
    net.train()
    for batch, labels in loader:
        loss = F.cross_entropy(net(batch.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    # trap: who asked for it may differentiate it
    clean = net(x)
    print(clean.argmax(-1))
    return clean


def profiled(net, val_loader):
    net.eval()
    right = 0
    for x, y in val_loader:
        with torch.autograd.profiler.record_function("test"):
            right += (net(x.cuda()).argmax(-1) == y.cuda()).sum().item()  # expect: PLM019
    return right
