import torch
import torch.nn.functional as F
from torch import nn


class Gap(nn.Module):
    def __init__(self, vgg):
        super().__init__()
        self.vgg = vgg

    def forward(self, made, layers):
        total = 0.0
        for name in layers:
            total = total + self.vgg(made)[name].mean()  # expect: PLM080
        return total

    def drawn(self, made, turns):
        total = 0.0
        for _ in range(turns):
            # trap: another each time, by dropout
            total = total + self.vgg(made)["last"].mean()
        return total

    def grown(self, made, layers):
        for name in layers:
            # trap: of what the turn before has made
            made = made + self.vgg(made)[name]
        return made

    def learnt(self, made, layers, optimizer):
        for name in layers:
            # trap: it learns in between
            loss = self.vgg(made)[name].mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


class Trainer:
    def __init__(self, net, data):
        self.net = net
        self.data = data
        self.seen = 0

    def fit(self, judge, loader, optimizer):
        judge.eval()
        for x in loader:
            self.seen += 1
            with torch.no_grad():
                wanted = judge(self.data)  # expect: PLM080
            loss = F.mse_loss(self.net(x), wanted)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    def fit_batches(self, judge, loader, optimizer):
        judge.eval()
        for x in loader:
            self.batch = x
            with torch.no_grad():
                # trap: of this batch
                wanted = judge(self.batch)
            loss = F.mse_loss(self.net(x), wanted)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
