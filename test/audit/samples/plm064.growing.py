import random

import torch
import torch.nn.functional as F


def shrink(images, side):
    # trap: whoever calls it has one side for all
    return F.interpolate(images, size=(side, side))


def train(net, loader, optimizer, side=256):
    # trap: every batch has the same side
    torch.backends.cudnn.benchmark = True
    for images, labels in loader:
        images = shrink(images, side)
        if random.random() < 0.5:
            images = images.flip(-1)
        loss = net(images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
