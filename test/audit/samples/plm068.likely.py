import math

import numpy as np
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8).cuda()

    def forward(self, x, labels, lengths, parts):
        for at in range(labels.max()):  # expect: PLM068
            x = x + at
        # trap: as packed sequences want them
        x = x[:, : lengths.max()]
        # trap: whatever it is called, one of NumPy's
        logits = np.array([part.total for part in parts]) / self.temperature
        weights = np.exp(logits)
        # trap: how many there are
        return self.proj(x) / max(len(parts), 1) * weights.sum()


def train(net, criterion, loader, optimizer):
    net.cuda()
    for x, y in loader:
        parts = criterion(net(x.cuda()), y.cuda())
        losses = sum(parts[k] for k in parts)
        losses.backward()
        optimizer.step()
        if not math.isfinite(losses):  # likely: PLM068
            break
