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
