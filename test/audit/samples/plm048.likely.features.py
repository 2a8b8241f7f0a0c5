"""Products of features by features that are divided where they are made, and the logits of a whole vocabulary."""

import torch
from torch import nn
from torch.nn import functional as F


class Decorrelate(nn.Module):
    def __init__(self, backbone, width, count):
        super().__init__()
        self.backbone = backbone
        self.norm = nn.BatchNorm1d(width, affine=False)
        self.count = count
        self.batch_size = 64

    def forward(self, first, second):
        one, two = self.norm(self.backbone(first)), self.norm(self.backbone(second))
        across = (one.T @ two) / self.batch_size  # likely: PLM048
        # trap: in place
        same = one.T @ one
        same.div_(self.batch_size)
        # trap: the smaller operand is scaled
        own = (one / self.batch_size).T @ one
        # trap: pairs of examples
        pairs = (one @ two.T) / self.batch_size
        # trap: a number
        alone = ((two.T @ two) / self.batch_size).sum()
        return across.pow(2).sum() + same.pow(2).sum() + own.diagonal().sum() + pairs.mean() + alone


class Speaker(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, x, targets):
        logits = self.lm_head(self.body(x))
        logits = torch.tanh(logits / 30.0) * 30.0  # likely: PLM048
        # trap: one step, and its name is given away
        again = self.lm_head(x)
        again = again / 30.0
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return loss + F.cross_entropy(again.flatten(0, 1), targets.flatten())


class Preferring:
    temperature = 0.7

    def logps(self, model: nn.Module, ids, labels):
        # the vocabulary's, in floats
        logits = model(ids).logits.to(torch.float32) / self.temperature  # expect: PLM048
        # trap: a number
        loss = model(ids, labels=labels).loss / self.temperature
        return logits.log_softmax(-1).gather(-1, labels[..., None]).sum() + loss

    def train(self, policy, loader, optimizer):
        for ids, labels in loader:
            optimizer.zero_grad()
            self.logps(policy, ids, labels).backward()
            optimizer.step()
