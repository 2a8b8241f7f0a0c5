"""Sums of numbers, and sums that each step begins anew."""

import torch


class Trainer:
    def __init__(self, net, judge, optimizer):
        self.net, self.judge, self.optimizer = net, judge, optimizer
        self.dis_losses = {}

    def step(self, batch):
        self.dis_losses["consistency"] = torch.zeros((), device="cuda")
        made, again = self.judge(self.net(batch)), self.judge(batch)
        for name in ("near", "far"):
            # trap: begun anew in each step, right above
            self.dis_losses["consistency"] += (made[name] - again[name]).pow(2).mean()
        total = sum(self.dis_losses.values())
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()


def train(net, loader, optimizer):
    mean_loss, seen = 0, 0
    kept = 0
    for x in loader:
        loss = net(x.cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += 1
        # trap: of numbers, and of itself
        mean_loss += (loss.item() - mean_loss) / seen
        kept += loss  # expect: PLM001
    return mean_loss, kept
