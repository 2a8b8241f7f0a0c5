import random

import torch
import torch.nn.functional as F

SIDES = (320, 416, 512, 608)


def rescale(images, boxes, side):
    old = images.shape[-1]
    images = F.interpolate(images, size=(side, side), mode="bilinear", align_corners=False)  # expect: PLM064
    return images, boxes / old * side


def train(net, loader, optimizer):
    torch.backends.cudnn.benchmark = True  # expect: PLM064
    side = SIDES[0]
    for turn, (images, boxes) in enumerate(loader):
        if turn % 10 == 0:
            side = random.choice(SIDES)
        images, boxes = rescale(images, boxes, side)
        loss = net(images, boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
