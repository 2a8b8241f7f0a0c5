"""One number in float64 costs nothing."""

from typing import Optional

import torch
from torch import Tensor, nn
from torchmetrics import Metric


class Perplexity(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("total", default=torch.zeros((), dtype=torch.float64))
        self.loss_fn = nn.CrossEntropyLoss()

    def update(self, preds: Tensor, target: Tensor, loss: Optional[Tensor] = None) -> None:
        count = target.numel()
        if loss is None:
            loss = self.loss_fn(preds, target)
        # trap: one loss
        self.total += loss.double() * count


def train(net, judge, loader, optimizer):
    net.cuda()
    for x, y in loader:
        loss = judge(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()


def charbonnier(x, power=0.5):
    # a helper of the losses in this file, by the name of that
    return torch.pow(x.double().pow(2) + 1e-3, power).mean()  # likely: PLM074


def evaluate_charbonnier(x, power=0.5):
    # trap: it only judges
    return torch.pow(x.double().pow(2) + 1e-3, power).mean()


def weighed(x, count):
    # trap: a number
    return x.mean() * count.double()
