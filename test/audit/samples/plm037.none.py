"""A loader that is None where there is nothing to go through."""

import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, net, optimizer, rows, checked=None, spare=None):
        self.net = net.to("cuda")
        self.optimizer = optimizer
        self.device = torch.device("cuda")
        self.loader = self.load(rows)
        self.checks = self.load(checked) if checked else None
        self.spare = None
        if spare is not None:
            self.spare = DataLoader(spare, batch_size=8, num_workers=4)

    def load(self, rows):
        return DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)

    def run(self, loader):
        for x, y in loader:
            x = x.to(self.device)  # expect: PLM037
            loss = self.net(x, y.to(self.device, non_blocking=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def run_spare(self):
        for x, y in self.spare:
            # trap: that one does not pin
            loss = self.net(x.to(self.device), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def fit(self):
        self.run(self.loader)
        if self.checks:
            self.run(self.checks)
        if self.spare:
            self.run_spare()


def by_key(net, rows, optimizer, device="cuda"):
    for x, y in DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True):
        parts = dict(x=x, y=y)
        for key in parts:
            parts[key] = parts[key].to(device)  # expect: PLM037
        # trap: made here, and not pinned
        made = {"shift": torch.zeros(8), "scale": torch.ones(8)}
        for key in made:
            made[key] = made[key].to(device)
        loss = net(parts, made)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
