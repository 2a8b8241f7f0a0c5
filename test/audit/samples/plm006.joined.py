"""What a network remembers of the pieces before this one."""

import torch
from torch import nn


class Layers(nn.Module):
    def __init__(self, layers, keep):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layers = layers
        self.keep = keep
        self.memory = None

    def forward(self, ids):
        x = self.embed(ids)
        if self.memory is None:
            self.begin(ids.size(0))
        for at, layer in enumerate(self.layers):
            before = x
            x = layer(x, self.memory[at])
            self.remember(at, before)
        return x

    def begin(self, size):
        self.memory = [torch.zeros(size, 0, 32) for _ in self.layers]

    def remember(self, at, x):
        self.memory[at] = torch.cat([self.memory[at], x], dim=1)[:, -self.keep :]  # expect: PLM006


class Whole(nn.Module):
    def __init__(self, layer, keep):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layer = layer
        self.keep = keep
        self.memory = None

    def forward(self, ids):
        x = self.embed(ids)
        seen = x if self.memory is None else torch.cat((self.memory, x), dim=1)
        self.memory = seen[:, -self.keep :]  # expect: PLM006
        return self.layer(x, seen)


class Listed(nn.Module):
    def __init__(self, layers, keep):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layers = layers
        self.keep = keep
        self.mems = [torch.zeros(1, 0, 32) for _ in layers]

    def forward(self, ids):
        x = self.embed(ids)
        hiddens = []
        for at, layer in enumerate(self.layers):
            hiddens.append(x)
            x = layer(x, self.mems[at])
        self.mems = [torch.cat([m, h], 1)[:, -self.keep :] for m, h in zip(self.mems, hiddens)]  # expect: PLM006
        return x
