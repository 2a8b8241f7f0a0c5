"""A loss that is an item of a dictionary."""

import torch


class Runner:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    def process(self, batch, is_train):
        batch["out"] = self.model(batch["x"].cuda())
        batch["loss"] = self.criterion(batch["out"], batch["y"].cuda())
        if is_train:
            batch["loss"].backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return batch

    def counted(self, batch):
        batch["loss"] = self.criterion(self.model(batch["x"].cuda()), batch["y"].cuda())
        batch["loss"].backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        batch["loss"] = batch["loss"].item()
        return batch

    def epoch(self, loader):
        total = 0.0
        for batch in loader:
            batch = self.process(batch, is_train=True)
            total += batch["loss"]  # expect: PLM001
        return float(total) / len(loader)

    def epoch_of_numbers(self, loader):
        total = 0.0
        for batch in loader:
            batch = self.counted(batch)
            total += batch["loss"]  # trap: a number by now
        return total / len(loader)

    def epoch_detached(self, loader):
        total = 0.0
        for batch in loader:
            batch = self.process(batch, is_train=True)
            batch["loss"] = batch["loss"].detach()
            total += batch["loss"]  # trap: detached here
        return float(total) / len(loader)

    def judge(self, loader):
        total = 0.0
        with torch.no_grad():
            for batch in loader:
                batch = self.process(batch, is_train=False)
                total += batch["loss"]  # trap: nothing is recorded
        return float(total) / len(loader)


def train(model, loader, optimizer, criterion):
    total = 0.0
    tokens = 0
    for batch in loader:
        batch["loss"] = criterion(model(batch["x"].cuda()), batch["y"].cuda())
        batch["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
        total += batch["loss"]  # expect: PLM001
        tokens += batch["tokens"]  # trap: another item
    return float(total) / tokens
