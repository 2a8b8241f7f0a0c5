import logging
import random

import torch


class Trainer:
    def __init__(self, net, loader, optimizer, criterion):
        self.net = net
        self.loader = loader
        self.optimizer = optimizer
        self.criterion = criterion
        self.errors = []
        self.rows = []

    def preview(self, count):
        with torch.no_grad():
            torch.save(self.net(torch.randn(count, 8)), "preview.pt")

    def note(self, step):
        self.rows.append(str(step))

    def fit(self):
        for step, (x, y) in enumerate(self.loader):
            loss = self.criterion(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            try:
                self.preview(4)
            except RuntimeError as e:
                self.errors.append(e)  # expect: PLM011
            try:
                self.preview(4)
            except RuntimeError as e:
                # trap: its text alone
                self.errors.append(str(e))
            try:
                self.note(step)
            except RuntimeError as e:
                # trap: nothing there runs a network
                self.errors.append(e)
            try:
                random.sample(self.rows, 3)
            except Exception as e:
                # trap: of a library, whatever it is called
                self.errors.append(e)
            try:
                self.preview(4)
            except FileNotFoundError as e:
                # trap: a file was missing
                self.errors.append(e)
            try:
                self.preview(4)
            except RuntimeError as e:
                logging.warning("%s", e)
