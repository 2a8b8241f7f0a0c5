import os

import torch
import torch.nn as nn

CHECKED = os.environ.get("CHECKED") == "1"


class Head(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.proj = nn.Linear(8, 8).cuda()

    def forward(self, x, labels):
        # trap: a switch
        if self.attention:
            x = x * 2
        # trap: a count
        num_features = x.shape[1]
        if num_features > 4:
            x = x[:, :4]
        if (labels == 1).any():  # likely: PLM027
            x = x + 1
        # trap: computed from settings and what was read
        ratio = max(self.config["threshold"] / (x.sum().item() + 1e-6), 0.0)
        if ratio > 1.0:
            x = x * ratio
        if CHECKED:
            # trap: only where somebody asks for it
            assert (labels >= 0).all()
        return self.proj(x)


def train(net, criterion, loader, optimizer, debug):
    net.cuda()
    for step, (x, y) in enumerate(loader):
        loss = criterion(net(x.cuda()), y.cuda())
        if step > 0 and torch.isnan(loss):  # likely: PLM027
            continue
        # trap: now and then
        if step % 100 == 0 and torch.isnan(loss):
            continue
        loss.backward()
        optimizer.step()
