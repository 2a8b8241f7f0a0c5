import torch
import torch.nn.functional as F


class Meter:
    def __init__(self):
        self.sum = 0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n


class Last:
    def update(self, value, n=1):
        self.value = float(value)


def start():
    loss_meter = Meter()
    last = Last()
    return loss_meter, last, Meter()


def train(model, loader, optimizer):
    model.cuda()
    losses, last, sizes = start()
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss, len(x))  # expect: PLM001
        # trap: that one reads it
        last.update(loss, len(x))
        # trap: cut off
        sizes.update(loss.detach(), len(x))
    return losses, last, sizes
