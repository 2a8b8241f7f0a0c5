"""Losses that are given what they compare."""

import torch.nn.functional as F
from torch import nn


class TokenLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.compare = nn.CrossEntropyLoss(ignore_index=0)

    def forward(self, logits, ids):
        return self.compare(logits.transpose(1, 2).float(), ids[:, 1:])  # expect: PLM046


class TagLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.compare = nn.CrossEntropyLoss(ignore_index=0)

    def forward(self, logits, tags):
        # trap: of tags there are a few
        return self.compare(logits.transpose(1, 2).float(), tags[:, 1:])


class PictureLoss(nn.Module):
    def forward(self, logits, target):
        # trap: one row an image, of its classes
        return F.cross_entropy(logits.float(), target)


class Scores(nn.Module):
    def forward(self, values, ids):
        # trap: of what these are nothing is said
        return F.mse_loss(values.transpose(1, 2).float(), ids[:, 1:])


def train(net, loader, optimizer):
    losses = (TokenLoss(), TagLoss(), PictureLoss(), Scores())
    for x, y in loader:
        out = net(x.cuda())
        loss = sum(one(out, y.cuda()) for one in losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
