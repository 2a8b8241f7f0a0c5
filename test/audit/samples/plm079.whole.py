"""A method that clips where it steps."""

import torch
from torch import nn


class Whole:
    def __init__(self, model, optimizer, config):
        self.model = model.cuda()
        self.optimizer = optimizer
        self.config = config

    def optimizer_step(self, step):
        if (step + 1) % self.config.gradient_accumulation == 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=10.0)
            self.optimizer.step()
            self.optimizer.zero_grad()

    def fit(self, loader):
        for i, batch in enumerate(loader):
            loss = self.model(batch.cuda()).mean() / self.config.gradient_accumulation
            loss.backward()
            self.optimizer_step(i)
