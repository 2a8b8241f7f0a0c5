import torch
from torch import nn


class Rolled:
    def __init__(self, device):
        self.cell = nn.Linear(8, 8).to(device)
        self.value = nn.Linear(8, 1).to(device)
        self.optimizer = torch.optim.SGD(self.cell.parameters(), lr=1e-3)
        self.seen = []
        self.cut = []

    def roll(self, first):
        states = [first]
        for _ in range(15):
            states.append(self.cell(states[-1]))
        return torch.stack(states, dim=0)

    def roll_cut(self, first):
        states = [first]
        for _ in range(15):
            states.append(self.cell(states[-1]).detach())
        return torch.stack(states, dim=0)

    def learn(self, loader):
        for first in loader:
            states = self.roll(first)
            self.seen.append(states)  # expect: PLM017
            # trap: each of them was cut off before they were joined
            self.cut.append(self.roll_cut(first))
            loss = -self.value(states).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
