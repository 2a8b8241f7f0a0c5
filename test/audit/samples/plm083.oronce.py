import time

import torch

device = torch.device("cuda")


def train_to_the_last(net, optimizer, batches, total, meter):
    net.to(device).train()
    for step in range(total):
        begun = time.time()
        last_step = step == total - 1
        if step % 250 == 0 or last_step:
            print("held out", net(batches.held_out().to(device)).mean().item())
        loss = net(batches.next().to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        ended = time.time()
        meter.append(ended - begun)  # expect: PLM083


def train_compared(net, optimizer, loader, every, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.perf_counter()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i + 1 == len(loader) or (every > 0 and i % every == 0):
            print("loss", loss.item())
        meter.append(time.perf_counter() - begun)  # expect: PLM083


def train_told(net, optimizer, loader, verbose, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 100 == 0 or verbose:
            print("loss", loss.item())
        meter.append(time.time() - begun)  # trap: it may wait in all turns


def train_ranked(net, optimizer, loader, rank, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0 or i % 100 == 0:
            print("loss", loss.item())
        meter.append(time.time() - begun)  # trap: the process that tells waits in all turns


def train_by_epochs(net, optimizer, loader, epoch, meter):
    net.to(device).train()
    for i, x in enumerate(loader):
        begun = time.time()
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if epoch == 0 or i % 100 == 0:
            print("loss", loss.item())
        meter.append(time.time() - begun)  # trap: it waits in all turns of an epoch
