import torch
from torch import nn


class Letters(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.lstm = nn.LSTM(kinds, 256, batch_first=True)
        self.out = nn.Linear(256, kinds)

    def forward(self, x, hidden):
        y, hidden = self.lstm(x, hidden)
        return self.out(y), hidden


def begin(net):
    return torch.zeros(1, 8, 256).cuda(), torch.zeros(1, 8, 256).cuda()


def copied(batches, criterion):
    net = Letters(64).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    hidden = begin(net)
    for x, y in batches:
        hidden = tuple([each for each in hidden])  # expect: PLM006
        out, hidden = net(x.cuda(), hidden)
        criterion(out, y.cuda()).backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def cloned(batches, criterion):
    net = Letters(64).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    hidden = begin(net)
    for x, y in batches:
        hidden = (hidden[0].clone(), hidden[1].clone())  # expect: PLM006
        out, hidden = net(x.cuda(), hidden)
        criterion(out, y.cuda()).backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def cut(batches, criterion):
    net = Letters(64).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    hidden = begin(net)
    for x, y in batches:
        # trap: cut off from the steps before
        hidden = tuple([each.data for each in hidden])
        out, hidden = net(x.cuda(), hidden)
        criterion(out, y.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()


def begun_anew(batches, criterion):
    net = Letters(64).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in batches:
        hidden = begin(net)
        # trap: of this step alone
        hidden = tuple(each.clone() for each in hidden)
        out, hidden = net(x.cuda(), hidden)
        criterion(out, y.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()


class Streams:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.Adam(net.parameters())
        self.states = {}
        self.ends = {}

    def step(self, key, x, y):
        out, self.states[key] = self.net(x.cuda(), self.states.get(key))  # expect: PLM006
        nn.functional.mse_loss(out, y.cuda()).backward(retain_graph=True)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def cut(self, key, x, y):
        # trap: cut off below
        out, self.ends[key] = self.net(x.cuda(), self.ends.get(key))
        self.ends[key] = self.ends[key].detach()
        nn.functional.mse_loss(out, y.cuda()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
