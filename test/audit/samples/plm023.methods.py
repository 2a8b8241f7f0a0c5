import torch


class Trainer:
    def __init__(self, model, optimizer, criterion, loader, held):
        self.model = model.cuda()
        self.optimizer = optimizer
        self.criterion = criterion
        self.loader = loader
        self.held = held

    def batch(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()

    def epoch(self):
        for x, y in self.loader:
            self.batch(x.cuda(), y.cuda())

    @torch.no_grad()
    def score(self):
        self.model.eval()
        total = sum(self.criterion(self.model(x.cuda()), y.cuda()) for x, y in self.held)
        self.model.train()
        return total

    def fit(self, epochs):
        for _ in range(epochs):
            self.epoch()
            print(self.score())  # expect: PLM023

    def at_once(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.batch(x.cuda(), y.cuda())
            print(self.score())  # expect: PLM023

    def swept(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.batch(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            # trap: nothing is left
            print(self.score())

    def between(self, epochs):
        for _ in range(epochs):
            self.epoch()
            self.optimizer.zero_grad(set_to_none=True)
            # trap: nothing is left
            print(self.score())


class Tidy:
    def __init__(self, model, optimizer, criterion, loader, held):
        self.model = model.cuda()
        self.optimizer = optimizer
        self.criterion = criterion
        self.loader = loader
        self.held = held

    def batch(self, x, y):
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def half(self, x, y):
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def score(self):
        self.model.eval()
        total = sum(self.criterion(self.model(x.cuda()), y.cuda()) for x, y in self.held)
        self.model.train()
        return total

    def fit(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.batch(x.cuda(), y.cuda())
            # trap: cleared by the step itself
            print(self.score())

    def outside(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.half(x.cuda(), y.cuda())
                self.optimizer.zero_grad()
            # trap: cleared after the step
            print(self.score())

    def ahead(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.optimizer.zero_grad()
                self.half(x.cuda(), y.cuda())
            print(self.score())  # expect: PLM023
