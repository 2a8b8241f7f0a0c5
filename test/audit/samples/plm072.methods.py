"""Loaders that a method of the class makes, and two batches joined in one line."""

import torch
from torch.utils.data import DataLoader


class Runner:
    def make_data(self):
        return DataLoader(self.train, pin_memory=True), DataLoader(self.test)

    def run(self, model, optimizer):
        loader, other = self.make_data()
        for x, y in loader:
            x, y = torch.cat([x, x]), torch.cat([y, y])  # expect: PLM072, PLM072
            x, y = x.cuda(), y.cuda()
            model(x, y).mean().backward()
            optimizer.step()
        for x, y in other:
            x, y = torch.cat([x, x]), torch.cat([y, y])  # trap: not pinned
            x, y = x.cuda(), y.cuda()
            model(x, y).mean().backward()
            optimizer.step()
