"""Optimizers that keep the schedule of their learning rate."""

import torch


class ScheduledOptim:
    def __init__(self, optimizer, warm_up):
        self._optimizer = optimizer
        self.warm_up = warm_up

    def step_and_update_lr(self):
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()


def summed(net, loader, config):
    scheduled_optim = ScheduledOptim(torch.optim.SGD(net.parameters(), 0.1), 4000)
    for i, batch in enumerate(loader):
        loss = net(batch.cuda()).mean()
        loss.backward()  # expect: PLM065
        if (i + 1) % config.acc_steps == 0 or i + 1 == len(loader):
            scheduled_optim.step_and_update_lr()
            scheduled_optim.zero_grad()


def divided(net, loader, config):
    scheduled_optimizer = ScheduledOptim(torch.optim.SGD(net.parameters(), 0.1), 4000)
    for i, batch in enumerate(loader):
        # trap: a share of the mean
        loss = net(batch.cuda()).mean() / config.acc_steps
        loss.backward()
        if (i + 1) % config.acc_steps == 0 or i + 1 == len(loader):
            scheduled_optimizer.step_and_update_lr()
            scheduled_optimizer.zero_grad()


def every(net, loader, config):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    optim_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for i, batch in enumerate(loader):
        optimizer.zero_grad()
        loss = net(batch.cuda()).mean()
        loss.backward()
        optimizer.step()
        # trap: it is the learning rate that is changed now and then
        if (i + 1) % config.acc_steps == 0:
            optim_scheduler.step()
