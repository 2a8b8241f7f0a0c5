"""A method that is handed the loss of each step."""

import torch


class Fitter:
    def __init__(self, model, optimizer, criterion, scaler=None):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.scaler = scaler

    def descend(self, loss):
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward(retain_graph=True)  # expect: PLM007
            self.optimizer.step()

    def fit(self, loader):
        self.model.train()
        for images, labels in loader:
            self.optimizer.zero_grad()
            error = self.criterion(self.model(images), labels)
            self.descend(error)
