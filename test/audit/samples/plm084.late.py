import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, batches, optimizer, n):
    model = DDP(net.cuda())
    while True:
        for micro in range(n):
            loss = model(next(batches)).mean() / n
            model.require_backward_grad_sync = micro == n - 1  # expect: PLM084
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def right(net, batches, optimizer, n):
    model = DDP(net.cuda())
    while True:
        for micro in range(n):
            # trap: above the forward, which asks for it
            model.require_backward_grad_sync = micro == n - 1
            loss = model(next(batches)).mean() / n
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def reset(net, batches, optimizer, n):
    model = DDP(net.cuda())
    while True:
        for micro in range(n):
            model.require_backward_grad_sync = micro == n - 1
            loss = model(next(batches)).mean() / n
            # trap: it was right when the forward asked
            model.require_backward_grad_sync = micro == n - 1
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def drawn_again(net, batches, optimizer, n):
    model = DDP(net.cuda())
    while True:
        for micro in range(n):
            # trap: what is differentiated is the forward below
            with torch.no_grad():
                hard = model(next(batches)).argmax(1)
            model.require_backward_grad_sync = micro == n - 1
            loss = model(next(batches))[hard].mean() / n
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
