"""Several losses are a list; several entries of one are a tensor."""

import torch


def train(net, criterion, loader, optimizer):
    net.cuda()
    for x, y in loader:
        losses = criterion(net(x.cuda()), y.cuda())
        loss = sum(losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_by_rows(net, loader, optimizer):
    net.cuda()
    for x, y in loader:
        losses = torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda(), reduction="none")
        loss = sum(losses)  # expect: PLM068
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
