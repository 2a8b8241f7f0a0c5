"""Parameters that a dict holds, updated by what an engine calls."""

import torch
from ignite.engine import Engine, Events, create_supervised_trainer
from torch.optim import SGD
from torchnet.engine import Engine as Runner


def by_hook(weights, forward, batches):
    optimizer = SGD((one for one in weights.values() if one.requires_grad), 0.1)
    slow = {name: one.detach().clone() for name, one in weights.items()}

    def follow(state):
        for name, one in weights.items():
            slow[name].mul_(0.99).add_(one.detach(), alpha=0.01)  # expect: PLM034

    def begin(state):
        # trap: once an epoch
        for name, one in weights.items():
            slow[name].copy_(one.detach())

    runner = Runner()
    runner.hooks["on_update"] = follow
    runner.hooks["on_start_epoch"] = begin
    runner.train(forward, batches, 10, optimizer)


def by_handler(net, slow, update, check, batches):
    trainer = Engine(update)
    evaluator = Engine(check)
    fast = dict(net.named_parameters())

    def follow(engine):
        for name, one in fast.items():
            slow[name].lerp_(one.detach(), 0.01)  # expect: PLM034

    @trainer.on(Events.ITERATION_COMPLETED(every=100))
    def now_and_then(engine):
        # trap: not on every step
        for name, one in fast.items():
            slow[name].copy_(one.detach())

    @evaluator.on(Events.ITERATION_COMPLETED)
    def while_evaluating(engine):
        # trap: no step of training
        for name, one in fast.items():
            slow[name].copy_(one.detach())

    trainer.add_event_handler(Events.ITERATION_COMPLETED, follow)
    trainer.run(batches, max_epochs=10)


def by_rows(net, rows, batches, optimizer):
    for batch in batches:
        loss = net(batch).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        # trap: what the dict holds is not known
        for name, one in rows.items():
            one.add_(1)
