"""The flag in a method that is called for each micro-batch, contexts made by partial, and the branch of the step."""

from contextlib import nullcontext
from functools import partial


class Learner:
    def __init__(self, model, optimizer, accumulate):
        self.model, self.optimizer, self.accumulate = model, optimizer, accumulate
        self.step = 0

    def train_step(self, batch):
        self.model.require_backward_grad_sync = self.step % self.accumulate == 0  # expect: PLM084
        loss = self.model(batch) / self.accumulate
        loss.backward()
        if (self.step + 1) % self.accumulate == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def right_step(self, batch):
        # trap: the turn that the optimizer steps in
        self.model.require_backward_grad_sync = (self.step + 1) % self.accumulate == 0
        loss = self.model(batch) / self.accumulate
        loss.backward()
        if (self.step + 1) % self.accumulate == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def whole_step(self, batches):
        for at in range(self.accumulate):
            last = at == (self.accumulate - 1)
            context = partial(self.model.no_sync) if last else nullcontext  # expect: PLM084
            with context():
                (self.model(next(batches)) / self.accumulate).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def right_whole_step(self, batches):
        for at in range(self.accumulate):
            last = at == (self.accumulate - 1)
            context = partial(self.model.no_sync) if not last else nullcontext  # trap: all but the last
            with context():
                (self.model(next(batches)) / self.accumulate).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def train(model, loader, optimizer, accumulate, total):
    for it, x in enumerate(loader):
        loss = model(x).mean() / accumulate
        if it % accumulate == 0 or it == total:
            with model.no_sync():  # expect: PLM084
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        else:
            loss.backward()


def trained(model, loader, optimizer, accumulate, total):
    for it, x in enumerate(loader):
        loss = model(x).mean() / accumulate
        if it % accumulate == 0 or it == total:
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        else:
            with model.no_sync():  # trap: nothing steps here
                loss.backward()
