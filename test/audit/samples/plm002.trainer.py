"""Losses of a trainer that differentiates its own, kept by who is called after each step."""

import torch


class Trainer:
    def run(self, net, loader, optimizer):
        for x, y in loader:
            _, self.loss = net(x.cuda(), y.cuda())
            net.zero_grad(set_to_none=True)
            self.loss.backward()
            optimizer.step()
            self.call(self.after)


def watch(trainer):
    seen = []
    cut = []
    recent = []

    def after(trainer):
        seen.append(trainer.loss)  # expect: PLM002
        # trap: cut off
        cut.append(trainer.loss.detach())
        # trap: emptied
        recent.append(trainer.loss)
        if len(recent) == 100:
            print(sum(recent))
            recent.clear()

    def passing(trainer):
        # trap: gone with the call
        now = []
        now.append(trainer.loss)
        return len(now)

    def other(report):
        # trap: what reports hold is not known
        seen.append(report.loss)

    trainer.after = after
    trainer.other = (passing, other)
