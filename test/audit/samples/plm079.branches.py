"""Clipped where gradients are only added up: in the other branch, in a method's own loop, through a driver."""

import torch
from accelerate import Accelerator


def train(model, loader, optimizer, accumulate):
    for it, x in enumerate(loader):
        loss = model(x.cuda()).mean() / accumulate
        if it % accumulate == 0:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # trap: right before the step
            optimizer.step()
            optimizer.zero_grad()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: PLM079


class Trainer:
    def __init__(self, model, optimizer, every, max_grad_norm):
        self.accelerator = Accelerator()
        self.model, self.optimizer, self.every = model, optimizer, every
        self.max_grad_norm = max_grad_norm

    def train_step(self, batches):
        for _ in range(self.every):
            loss = self.model(next(batches))
            self.accelerator.backward(loss / self.every)
            if exists(self.max_grad_norm):
                self.accelerator.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)  # expect: PLM079
        self.optimizer.step()
        self.optimizer.zero_grad()

    def clipped_once(self, batches):
        for _ in range(self.every):
            loss = self.model(next(batches))
            self.accelerator.backward(loss / self.every)
        if exists(self.max_grad_norm):
            # trap: after all of them
            self.accelerator.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()


def exists(value):
    return value is not None
