import torch
import torch.nn as nn


class Watched(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Linear(width, 8)
        self.up = nn.Linear(8, width)

    def forward(self, x):
        self.change = self.up(self.down(x))  # expect: PLM004
        return x + self.change


class Punished(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Linear(width, 8)
        self.up = nn.Linear(8, width)

    def forward(self, x):
        # trap: differentiated by whoever sums up the sizes
        self.shift = self.up(self.down(x))
        return x + self.shift


class Stack(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.watched = nn.ModuleList([Watched(width) for _ in range(4)])
        self.punished = nn.ModuleList([Punished(width) for _ in range(4)])

    def forward(self, x):
        for one in [*self.watched, *self.punished]:
            x = one(x)
        return x

    def spread(self):
        return torch.stack([one.change.norm() for one in self.watched]).mean()

    def size(self):
        return torch.stack([one.shift.norm() for one in self.punished]).mean()


def train(loader, width):
    stack = Stack(width)
    optimizer = torch.optim.SGD(stack.parameters(), lr=0.1)
    for step, x in enumerate(loader):
        loss = stack(x).square().mean() + stack.size()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(stack.spread().item())
