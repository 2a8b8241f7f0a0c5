import torch
from torch import nn


class Cut(nn.Module):
    def __init__(self, layer, keep):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layer = layer
        self.keep = keep
        self.mem = None

    def forward(self, ids):
        x = self.embed(ids)
        if self.mem is None:
            self.mem = torch.zeros(ids.size(0), 0, 32)
        y = self.layer(x, self.mem)
        # trap: cut off where it is handed over
        self.remember(x.detach())
        return y

    def remember(self, x):
        self.mem = torch.cat([self.mem, x], dim=1)[:, -self.keep :]


class Unrecorded(nn.Module):
    def __init__(self, layer, keep):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layer = layer
        self.keep = keep
        self.memory = torch.zeros(1, 0, 32)

    def forward(self, ids):
        x = self.embed(ids)
        y = self.layer(x, self.memory)
        self.remember(x)
        return y

    @torch.no_grad()
    def remember(self, x):
        # trap: nothing is recorded
        self.memory = torch.cat([self.memory, x], dim=1)[:, -self.keep :]


class Raw(nn.Module):
    def __init__(self, layer, keep):
        super().__init__()
        self.layer = layer
        self.keep = keep
        self.history_state = torch.zeros(1, 0, 32)

    def forward(self, x):
        # trap: the input itself has no graph
        self.history_state = torch.cat([self.history_state, x], dim=1)[:, -self.keep :]
        return self.layer(self.history_state)


class Anew(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.layer = layer
        self.memory = None

    def forward(self, ids):
        self.begin(ids.size(0))
        for at in range(ids.size(1)):
            self.write(self.layer(self.embed(ids[:, at]), self.memory))
        return self.memory

    def begin(self, size):
        self.memory = torch.zeros(size, 0, 32)

    def write(self, x):
        # trap: begun anew by each forward
        self.memory = torch.cat([self.memory, x[:, None]], dim=1)
