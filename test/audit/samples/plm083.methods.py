import time

import torch


class Paced:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer

    def train(self, loader):
        for x in loader:
            self.begun = time.monotonic()
            self.train_step(x.cuda())
            self.report(x)

    def train_step(self, x):
        self.optimizer.zero_grad()
        self.model(x).mean().backward()
        self.optimizer.step()

    def report(self, x):
        self.speed = x.shape[0] / (time.monotonic() - self.begun)  # expect: PLM083


class Waiting:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer

    def train(self, loader):
        for x in loader:
            self.begun = time.monotonic()
            self.train_step(x.cuda())
            self.report(x)

    def train_step(self, x):
        self.optimizer.zero_grad()
        self.model(x).mean().backward()
        self.optimizer.step()

    def report(self, x):
        torch.cuda.synchronize()
        # trap: waited for here
        self.speed = x.shape[0] / (time.monotonic() - self.begun)


class Reading:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer

    def train(self, loader):
        for x in loader:
            self.begun = time.monotonic()
            loss = self.train_step(x.cuda())
            print(loss.item())
            self.report(x)

    def train_step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def report(self, x):
        # trap: the caller has read the loss
        self.speed = x.shape[0] / (time.monotonic() - self.begun)


class Deeper:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer

    def train(self, loader):
        for x in loader:
            begun = time.monotonic()
            self.train_step(x.cuda())
            # trap: what the step calls has read the loss
            self.took = time.monotonic() - begun

    def train_step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).mean()
        loss.backward()
        self.optimizer.step()
        self.note(loss)

    def note(self, loss):
        self.last = loss.item()
