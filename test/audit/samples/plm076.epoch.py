from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, data: DataLoader, held: list, optimizer):
        self.model = model
        self.data = data
        self.held = held
        self.optimizer = optimizer

    def epoch(self, number):
        size = len(next(iter(self.data))[0])  # expect: PLM076
        # trap: a list is no loader
        first = next(iter(self.held))
        print(number, size, len(first))
        for x, y in self.data:
            loss = self.model(x, y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def train(self, count):
        # trap: once
        print(len(next(iter(self.data))[0]))
        for number in range(count):
            self.epoch(number)


def train(model, loader: DataLoader, optimizer, folds):
    for fold in folds:
        # trap: once for each fold
        x, _ = next(iter(loader))
        for epoch in range(10):
            # trap: now and then
            if epoch % 5 == 0:
                print(model(next(iter(loader))[0], x))
            for x, y in loader:
                loss = model(x, y)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
