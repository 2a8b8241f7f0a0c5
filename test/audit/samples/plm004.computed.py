"""What is stored is what the same forward goes on computing with."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Headed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)
        self.taps = {}

    def forward(self, x):
        self.feat = self.body(x)  # expect: PLM004
        return self.head(self.feat)


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.body(x)
        self.named = x  # expect: PLM004
        print(self.named.mean().item())
        return self.head(self.named)


class Branched(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        if x.ndim == 2:
            self.branched = self.body(x)  # expect: PLM004
        return self.head(self.branched)


class Changed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        self.changed = self.body(x)  # expect: PLM004
        self.changed[:, 0] = 0
        return self.head(self.changed)


class Tapped(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)
        self.taps = {}

    def forward(self, x):
        self.taps["body"] = self.body(x)  # expect: PLM004
        return self.head(self.taps["body"])


class Asked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        # trap: whoever looks at it wants its gradients
        self.asked = self.body(x)
        self.asked.retain_grad()
        return self.head(self.asked)


class OnHost(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, x):
        self.on_host = self.body(x)  # expect: PLM004
        return F.mse_loss(self.on_host.cpu(), x.cpu())


def train(loader, width):
    nets = [Headed, Named, Branched, Changed, Tapped, Asked, OnHost]
    net = nn.Sequential(*[one(width) for one in nets]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        loss = net(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
