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
