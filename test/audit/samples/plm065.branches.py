"""Accumulation counted by hand: the step and the exchange in one branch, logs divided, helpers that differentiate."""

from contextlib import nullcontext
from functools import partial

import torch.nn.functional as F
from accelerate import Accelerator

ACCUMULATE = 4


def train(model, loader, optimizer, device):
    for it, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        if it % ACCUMULATE == 0 or it == len(loader) - 1:
            loss.backward()  # expect: PLM065
            optimizer.step()
            optimizer.zero_grad()
        else:
            with model.no_sync():
                loss.backward()


def alternate(model, other, loader, optimizer, opponent, device):
    for it, (x, y) in enumerate(loader):
        gain, pain = model(x.to(device)).mean(), other(y.to(device)).mean()
        if it % 2 == 0:
            pain.backward()  # trap: two networks in turn, each with a step of its own
            opponent.step()
            opponent.zero_grad()
        else:
            gain.backward()
            optimizer.step()
            optimizer.zero_grad()


class Trainer:
    def __init__(self, model, optimizer, grad_accum_every, **kwargs):
        self.accelerator = Accelerator(**kwargs)
        self.model, self.optimizer = model, optimizer
        self.grad_accum_every = grad_accum_every

    def train_step(self, batches):
        logged = 0.0
        for at in range(self.grad_accum_every):
            last = at == self.grad_accum_every - 1
            context = nullcontext if last else partial(self.accelerator.no_sync, self.model)
            with context():
                loss = self.model(next(batches))
                self.accelerator.backward(loss)  # expect: PLM065
            logged += loss.item() / self.grad_accum_every
        self.optimizer.step()
        self.optimizer.zero_grad()
        return logged

    def divided(self, batches):
        for at in range(self.grad_accum_every):
            loss = self.model(next(batches))
            self.accelerator.backward(loss / self.grad_accum_every)  # trap: divided where it is handed over
        self.optimizer.step()
        self.optimizer.zero_grad()


def differentiate(half, loss, optimizer):
    loss.backward()


def contexts(n):
    for _ in range(n):
        yield


def accumulate_contexts(n):
    yield from contexts(n)


def helped(model, batches, optimizer, micro_batches, half):
    backwards = partial(differentiate, half)
    for _ in accumulate_contexts(micro_batches):
        loss = model(next(batches)).mean()
        backwards(loss, optimizer)  # expect: PLM065
    optimizer.step()
    optimizer.zero_grad()


def paths(model, loader, optimizer, scaler, grad_accum_steps, half):
    for epoch in range(10):
        for _ in range(grad_accum_steps):
            x, y = next(loader)
            loss = F.cross_entropy(model(x), y)
            if half:
                scaler.scale(loss).backward()  # expect: PLM065
            else:
                loss = loss / grad_accum_steps
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def divided_above(model, loader, optimizer, scaler, grad_accum_steps, half):
    for epoch in range(10):
        for _ in range(grad_accum_steps):
            x, y = next(loader)
            loss = F.cross_entropy(model(x), y) / grad_accum_steps
            if half:
                scaler.scale(loss).backward()  # trap: divided before the paths part
            else:
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def in_parts(model, loader, optimizer, size):
    for x, y in loader:
        optimizer.zero_grad()
        parts = len(x) // size
        for at in range(parts):
            loss = F.cross_entropy(model(x[at * size : (at + 1) * size]), y[at * size : (at + 1) * size])
            loss.backward()  # expect: PLM065
        optimizer.step()


def each_part(model, loader, optimizer, size):
    for x, y in loader:
        parts = len(x) // size
        for at in range(parts):
            loss = F.cross_entropy(model(x[at * size : (at + 1) * size]), y[at * size : (at + 1) * size])
            loss.backward()  # trap: each part has a step of its own
            optimizer.step()
            optimizer.zero_grad()
