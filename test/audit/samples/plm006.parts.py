import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, x, h=None):
        return self.rnn(x, h)


class Carries:
    def __init__(self, width):
        self.net = Encoder(width).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        self.state = None

    def loss_of(self, x, y):
        z, self.state = self.net(x, self.state)  # likely: PLM006
        return F.cross_entropy(z[:, -1], y)

    def fit(self, loader):
        for x, y in loader:
            loss = self.loss_of(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class BeginsAnew:
    def __init__(self, width):
        self.net = Encoder(width).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        self.state = None

    def reset(self):
        self.state = None

    def loss_of(self, x, y):
        z, self.state = self.net(x, self.state)  # trap: begun anew for each batch
        return F.cross_entropy(z[:, -1], y)

    def fit(self, loader):
        for x, y in loader:
            self.reset()
            loss = self.loss_of(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Cuts:
    def __init__(self, width):
        self.net = Encoder(width).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        self.state = None

    def loss_of(self, x, y):
        z, state = self.net(x, self.state)
        self.state = state.detach()  # trap: cut off
        return F.cross_entropy(z[:, -1], y)

    def fit(self, loader):
        for x, y in loader:
            loss = self.loss_of(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
