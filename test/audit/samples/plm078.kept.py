import torch
from torch import nn


class Kept(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.register_buffer("table", None, persistent=False)

    def forward(self, x):
        # trap: what is computed below is kept
        if self.table is not None:
            return x + self.table
        table = torch.linspace(0, 1, x.shape[1], device=x.device)
        self.register_buffer("table", table, persistent=False)
        return x + table


class Lost(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.ramp = None

    def forward(self, x):
        if self.ramp is not None:  # expect: PLM078
            return x + self.ramp
        table = torch.linspace(0, 1, x.shape[1], device=x.device)
        return x + table


class Given(nn.Module):
    def __init__(self):
        super().__init__()
        self.prompt = None

    def forward(self, x):
        # trap: set from outside
        if self.prompt is not None:
            return x + self.prompt
        noise = torch.randn_like(x)
        return x + noise


def train(net, given, loader, optimizer, prompt):
    given.prompt = prompt
    for batch in loader:
        loss = given(net(batch.to("cuda"))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
