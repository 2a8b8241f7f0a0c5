from functools import partial

import torch
from ignite.engine import Engine, Events


def build(net, opt, rows, held):
    def learn(engine, batch):
        net.train()
        loss = net(batch).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss.item()

    def measure(engine, batch):
        net.eval()
        words, wanted = batch
        return net(words), wanted  # expect: PLM019

    # trap: nothing is recorded
    @torch.no_grad()
    def guarded(engine, batch):
        net.eval()
        return net(batch)

    # trap: who runs it switches that off
    def quiet(engine, batch):
        net.eval()
        return net(batch)

    # trap: handed to nobody
    def once(batch):
        net.eval()
        return net(batch)

    trainer = Engine(learn)
    judge = Engine(measure)
    other = Engine(guarded)
    third = Engine(quiet)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda _: judge.run(held))
    trainer.run(rows)
    other.run(held)
    with torch.no_grad():
        third.run(held)
    return once


def score(net, engine, batch):
    net.eval()
    return net(batch)  # expect: PLM019


def scorer(net):
    judged = Engine(partial(score, net))
    return judged
