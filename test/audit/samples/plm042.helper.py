import torch
import torch.nn as nn


def table(length, width, device="cpu"):
    at = torch.arange(length, device=device).unsqueeze(1)
    return torch.sin(at * torch.linspace(0, 1, width, device=device)).float()


def moved(length):
    return torch.arange(length).to("cuda")


def beside(x):
    return torch.zeros(3) if x is None else x


class Told(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.host = table(512, width)
        self.told = table(512, width, device="cpu")
        self.there = table(512, width, device)
        self.moved = moved(512)
        self.beside = beside(width)

    def forward(self, x):
        x = self.proj(x)
        x = x + self.host.to(x.device)  # expect: PLM042
        x = x + self.told[: x.shape[1]].to(x.device)  # expect: PLM042
        # trap: made where the training runs
        x = x + self.there.to(x.device)
        # trap: on the device already
        x = x + self.moved.to(x.device)
        # trap: nobody knows what it is
        return x + self.beside.to(x.device)


def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda(non_blocking=True)).mean().backward()
        optimizer.step()


class Tables(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.make()
        self.place(device)

    def make(self):
        self.curve = torch.linspace(0, 1, 64)
        self.grid = torch.linspace(0, 1, 64)

    def place(self, device):
        self.grid = self.grid.to(device)

    def renew(self, steps):
        self.place(self.curve.device)
        self.steps = torch.arange(steps)

    def forward(self, x):
        # trap: somebody else renews it, perhaps on the device
        x = x + self.steps.to(x.device)
        # trap: put there before
        x = x * self.grid.to(x.device)
        return x * self.curve.to(x.device)  # expect: PLM042
