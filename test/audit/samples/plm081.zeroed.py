"""Copies that are cut off, and written into by their name."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 7)

    def forward(self, x, mask):
        boxes = self.proj(x)[mask].view(1, -1, 7)
        # trap: its places are put to zero below
        anchors = boxes.clone().detach()
        angle = boxes[:, :, 6].view(-1)
        anchors[:, :, 0:3] = 0
        made = self.proj(x)
        # trap: added to in place
        grown = made.clone().detach()
        grown += 1
        spare = self.proj(x).clone()  # expect: PLM081
        return (boxes + anchors).sum() + angle.sum() + (made * grown).sum() + (spare * 2).sum()


def train(net, loader, optimizer):
    net.cuda()
    for x, mask in loader:
        loss = net(x.cuda(), mask.cuda())
        loss.backward()
        optimizer.step()
