import torch
import torch.nn.functional as F
from torch import nn


class Twins(nn.Module):
    def __init__(self, net, head):
        super().__init__()
        self.net = nn.Linear(64, 64)
        self.head = nn.Linear(64, 8)

    def forward(self, x, y):
        near = self.head(self.net(x))
        far = self.head(self.net(y))
        a, b = near.clone(), far.clone()  # expect: PLM081, PLM081
        # trap: one of the two is written into
        c, d = near.clone(), far.clone()  # expect: PLM081
        c[0] = 0
        return F.mse_loss(a, b) + F.mse_loss(c, d) + near.mean() + far.mean()


def train(net, loader, optimizer):
    net.cuda()
    for batch in loader:
        images = batch["image"].cuda()
        given = images.clone()  # expect: PLM081
        loss = net(given).mean()
        spoilt = images.clone()
        # trap: written into
        spoilt[0] = 0
        loss = loss + net(spoilt).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
