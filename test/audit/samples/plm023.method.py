import torch


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model = model.cuda()
        self.optimizer = optimizer
        self.criterion = criterion

    @torch.no_grad()
    def probe(self, loader):
        self.model.eval()
        scores = [self.criterion(self.model(x.cuda()), y.cuda()) for x, y in loader]
        self.model.train()
        return torch.stack(scores).mean()

    def note(self, loss):
        # trap: it looks at nothing
        self.last = loss.detach()

    def train(self, loader, held, epochs):
        for _ in range(epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x.cuda()), y.cuda())
                loss.backward()
                self.optimizer.step()
            self.note(loss)
            print(self.probe(held))  # expect: PLM023

    def cleared(self, loader, held, epochs):
        for _ in range(epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x.cuda()), y.cuda())
                loss.backward()
                self.optimizer.step()
            self.optimizer.zero_grad()
            # trap: nothing is left
            print(self.probe(held))
