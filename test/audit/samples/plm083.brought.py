import time

import torch
from helpers import *
from measures import *

net = torch.nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def step_brought(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return tensor2float(loss), summary(loss)


def step_queued(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return summary(loss)


def train(loader):
    for x, y in loader:
        begun = time.time()
        # trap: a helper brings the loss to the host
        loss, shown = step_brought(x.cuda(), y.cuda())
        print(shown, time.time() - begun)


def train_queued(loader):
    for x, y in loader:
        begun = time.time()
        shown = step_queued(x.cuda(), y.cuda())
        print(shown, time.time() - begun)  # expect: PLM083


train([])
train_queued([])
