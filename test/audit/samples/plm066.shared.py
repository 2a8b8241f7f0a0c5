"""What is optimised by another name, and what is not."""

import copy

import torch
import torch.nn.functional as F
from nets import Body, Head, Pair
from torch import nn


def compiled(loader):
    model = Body().cuda()
    fast = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        # trap: the same parameters
        F.cross_entropy(fast(x), y).backward()
        optimizer.step()


def inner(loader):
    model = Pair().cuda()
    body = model.body
    body.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        # trap: a part of it
        F.cross_entropy(body(x), y).backward()
        optimizer.step()


def joined(loader):
    body = Body().cuda()
    body.train()
    model = Pair(body, Head())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        # trap: its parameters are the pair's
        F.cross_entropy(model(body(x)), y).backward()
        optimizer.step()


def added(loader):
    body = Body().cuda()
    body.train()
    model = Head()
    model.add_module("body", body)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        # trap: registered there
        F.cross_entropy(model(body(x)), y).backward()
        optimizer.step()


def copied(loader):
    model = Body().cuda()
    teacher = copy.deepcopy(model)
    teacher = teacher.cuda()
    teacher.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        loss = F.mse_loss(model(x), teacher(x))  # expect: PLM066
        loss.backward()
        optimizer.step()


def either(loader, sgd):
    body = Body()
    body = body.cuda()
    other = Body().cuda()
    body.train()
    other.train()
    head = Head().cuda()
    if sgd:
        optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    else:
        optimizer = torch.optim.RMSprop(other.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for x, y in loader:
        z = body(x)  # expect: PLM066
        # trap: by an option they learn
        loss = F.cross_entropy(head(other(z)), y)
        loss.backward()
        optimizer.step()
        scheduler.step()


def both(loader):
    trunk = Body().cuda()
    trunk.train()
    head = Head().cuda()
    first = torch.optim.SGD(head.parameters(), lr=0.1)
    second = torch.optim.SGD(list(trunk.parameters()), lr=0.01)
    for x, y in loader:
        # trap: another optimizer has it
        F.cross_entropy(head(trunk(x)), y).backward()
        first.step()
        second.step()


def thawing(loader):
    body = Body().cuda()
    body.freeze_all()
    body.train()
    head = Head().cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in loader:
        # trap: it freezes itself
        F.cross_entropy(head(body(x)), y).backward()
        optimizer.step()


class Chamfer(nn.Module):
    def forward(self, a, b):
        return torch.cdist(a, b).amin(-1)


def measured(loader):
    model = Body().cuda()
    chamfer = Chamfer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for x in loader:
        # trap: nothing in it learns
        chamfer(x, model(x)).mean().backward()
        optimizer.step()
        scheduler.step()


class Distiller(nn.Module):
    def __init__(self, student, logits):
        super().__init__()
        self.student = student
        self.logits = logits
        self.ce = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.ce(self.student(x), y)

    def fit(self, loader):
        optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
        for x, y in loader:
            # trap: the rest of it has nothing to learn
            self(x, y).backward()
            optimizer.step()
            scheduler.step()
