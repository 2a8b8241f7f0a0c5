import torch
import torch.nn.functional as F
from meters_of_nobody import *


class Average:
    def __init__(self):
        self.sum = 0

    def update(self, value, n=1):
        self.sum += value * n


def train(net, loader, optimizer):
    # trap: nobody knows what this one does with it
    unknown = AverageMeter()
    # trap: this one is given numbers
    numbers = Average()
    losses = Average()
    for x, y in loader:
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        unknown.update(loss, len(x))
        numbers.update(loss.item(), len(x))
        losses.update(loss, len(x))  # expect: PLM001
    # trap: made again under its name, as another
    losses = AverageMeter()
    return losses
