import time

import torch

device = torch.device("cuda")


def train(net, optimizer, loader, spent, waited):
    net.to(device).train()
    last = time.perf_counter()
    for i, x in enumerate(loader):
        # trap: the loader's own work
        waited.update(time.perf_counter() - last)
        loss = net(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        spent.update(time.perf_counter() - last)  # expect: PLM083
        last = time.perf_counter()
        if i % 100 == 0:
            print("loss", loss.item())


def train_read(net, optimizer, loader, spent, losses):
    net.to(device).train()
    last = time.perf_counter()
    for x in loader:
        loss = net(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: what is read below has waited for the turn before
        spent.update(time.perf_counter() - last)
        last = time.perf_counter()
        losses.update(loss.item())


def train_hundred(net, optimizer, loader):
    net.to(device).train()
    last = time.perf_counter()
    for i, x in enumerate(loader):
        loss = net(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 100 == 0:
            # trap: of a hundred turns, each time
            print("took", time.perf_counter() - last, loss)
            last = time.perf_counter()
