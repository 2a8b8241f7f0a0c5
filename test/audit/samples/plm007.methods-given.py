"""A method that a helper gets as well: it may call it with the same loss."""

import torch


class Fitter:
    def __init__(self, model, optimizer, criterion, again):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.again = again

    def descend(self, loss):
        # trap: `again` is handed the method, and may well differentiate a part of the same graph
        loss.backward(retain_graph=True)

    def fit(self, loader):
        self.model.train()
        for images, labels in loader:
            self.optimizer.zero_grad()
            scores = self.model(images)
            error = self.criterion(scores, labels)
            self.descend(error)
            self.again(scores, self.descend)
            self.optimizer.step()
