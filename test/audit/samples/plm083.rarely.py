import time

import torch

device = torch.device("cuda")


class Critic:
    def __init__(self, net, optimizer):
        self.net = net.to(device)
        self.optimizer = optimizer
        self.steps = 0
        self.spent = 0.0

    def update(self, batch, writer):
        self.steps += 1
        begun = time.perf_counter()
        self.learn(batch, writer)
        self.spent += time.perf_counter() - begun  # expect: PLM083

    def learn(self, batch, writer):
        loss = self.net(batch.to(device)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.steps % 500 == 0:
            self.tell(loss, writer)

    def tell(self, loss, writer):
        writer.add_scalar("critic", loss.item(), self.steps)


def train_by_name(net, optimizer, loader, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        due = i > 0 and i % 100 == 0
        if due:
            print("loss", loss.item())
        meter.append(time.time() - begun)  # expect: PLM083


def train_told(net, optimizer, loader):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 100 == 0:
            print("loss", loss.item())
        took = time.time() - begun  # trap: only looked at in a turn that waits
        if i % 100 == 0:
            print("took", took)


def train_epoch(net, optimizer, loader):
    net.to(device).train()
    begun = time.time()
    for i, x in enumerate(loader):
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 100 == 0:
            print("loss", loss.item())
    return time.time() - begun  # trap: each of these waits is for a hundred turns


def train_mostly(net, optimizer, loader, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 100 != 0:
            print("loss", loss.item())
        meter.append(time.time() - begun)  # trap: it waits in all turns but one
