"""A table of the class, moved in the method, and indices computed from drawn ones."""

import numpy as np
import torch


class Learner:
    def __init__(self, model, optimizer, levels):
        self.model, self.optimizer = model, optimizer
        self.levels = torch.tensor(levels)
        self.counts = torch.zeros(10)

    def train(self, loader, device):
        for x in loader:
            self.train_step(x.to(device))

    def train_step(self, x):
        self.levels = self.levels.to(x.device)
        drawn = np.random.randint(1, 100, size=len(x))
        low = self.levels[drawn - 1]  # expect: PLM070
        seen = self.counts[drawn]  # trap: it stays on the host
        loss = (self.model(x) * low.unsqueeze(1)).mean() + seen.sum()
        loss.backward()
        self.optimizer.step()
