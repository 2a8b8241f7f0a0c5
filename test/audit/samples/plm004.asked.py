"""Maps on modules, and the methods that read them."""

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.last_map = None

    def forward(self, x):
        weights = torch.softmax(self.query(x) @ x.transpose(1, 2), dim=-1)
        self.last_map = weights  # expect: PLM004
        return weights @ x

    def sharpness(self):
        weights = self.last_map.clamp(min=1e-6)
        return (weights * weights.log()).sum(-1).mean()


class Spread(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.spread_map = None

    def forward(self, x):
        weights = torch.softmax(self.query(x) @ x.transpose(1, 2), dim=-1)
        # trap: the step asks for it, and differentiates it
        self.spread_map = weights
        return weights @ x

    def spread(self):
        weights = self.spread_map.clamp(min=1e-6)
        return (weights * weights.log()).sum(-1).mean()


class Sparse(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.sparse_map = None
        self.sharp_map = None

    def forward(self, x):
        weights = torch.softmax(self.query(x) @ x.transpose(1, 2), dim=-1)
        # trap: by its name, for a loss of somebody's
        self.sparse_map = weights
        # trap: a property is read, not called
        self.sharp_map = weights * 2
        return weights @ x

    def sparsity_loss(self):
        return self.sparse_map.abs().mean()

    @property
    def sharp(self):
        return self.sharp_map.abs().mean()


class Drawn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.drawn_map = None

    def forward(self, x):
        weights = torch.softmax(self.query(x) @ x.transpose(1, 2), dim=-1)
        self.drawn_map = weights  # expect: PLM004
        return weights @ x


def train(net, drawn, loader, optimizer):
    for x, y in loader:
        loss = (net(drawn(x)) - y).square().mean() + 0.1 * net.spread()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        heat = drawn.drawn_map.mean(0)
        print(heat.detach().cpu())
