"""The ranks exchange in the turn that the optimizer steps in, wherever that is decided."""

from contextlib import contextmanager

import torch


def train(model, loader, optimizer, args):
    model.cuda()
    for i, x in enumerate(loader):
        model.require_backward_grad_sync = (i + 1) % args.update_freq == 0
        loss = model(x.cuda()).mean() / args.update_freq
        loss.backward()
        if (i + 1) % args.update_freq != 0:
            continue
        optimizer.step()
        optimizer.zero_grad()


class Counted:
    def optimizer_step(self, step):
        if (step + 1) % self.config.accumulation == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def fit(self, loader):
        for i, batch in enumerate(loader):
            self.model.require_backward_grad_sync = (i + 1) % self.config.accumulation == 0
            loss = self.model(batch.cuda()).mean() / self.config.accumulation
            loss.backward()
            self.optimizer_step(i)


class Distributed:
    @contextmanager
    def context_for_microstep(self, model, microstep_idx, gradient_accumulation_steps):
        model.require_backward_grad_sync = microstep_idx == gradient_accumulation_steps - 1
        yield
