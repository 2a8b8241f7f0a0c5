"""Optimizers that keep the schedule of their learning rate."""

from torch import nn


class Runner:
    def __init__(self, model, scheduled_optim, config):
        self.model = model.cuda()
        self.scheduled_optim = scheduled_optim
        self.config = config
        self.seen = 0

    def each(self, loader):
        for batch in loader:
            loss = self.model(batch.cuda()).mean() / self.config.acc_steps
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # expect: PLM079
            if self.seen % self.config.acc_steps == 0:
                self.scheduled_optim.step_and_update_lr()
                self.scheduled_optim.zero_grad()
            self.seen += 1

    def once(self, loader):
        for batch in loader:
            loss = self.model(batch.cuda()).mean() / self.config.acc_steps
            loss.backward()
            if self.seen % self.config.acc_steps == 0:
                # trap: whole gradients
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.scheduled_optim.step_and_update_lr()
                self.scheduled_optim.zero_grad()
            self.seen += 1
