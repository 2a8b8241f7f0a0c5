import torch
from torch import nn


class Trainer:
    def __init__(self, model, judge, loader):
        self.model = model.cuda()
        self.judge = judge.cuda().eval()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.loader = loader

    def train(self):
        for epoch in range(10):
            self.model.train()
            for x, y in self.loader:
                self.optimizer.zero_grad()
                out = self.model(x.cuda())
                # trap: `self.eval()` below is the trainer's own
                loss = self.criterion(out, y.cuda())
                loss.backward()
                self.optimizer.step()
            self.eval()

    def eval(self):
        self.model.eval()
        with torch.no_grad():
            for x, y in self.loader:
                print(self.model(x.cuda()).argmax(-1).eq(y.cuda()).float().mean().item())
