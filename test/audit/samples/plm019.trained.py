"""Networks and trainers with a method that trains on a batch, and one beside it that measures on one; whoever calls them is handed an object."""

import torch
import torch.nn.functional as F
from torch import nn


class Sage(nn.Module):
    def __init__(self, width, kinds):
        super().__init__()
        self.first = nn.Linear(width, 64)
        self.last = nn.Linear(64, kinds)
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, x, edges):
        return self.last(edges @ F.relu(self.first(x)))

    def train_step(self, x, edges, y):
        self.train()
        self.optimizer.zero_grad()
        scores = self(x, edges)
        loss = F.cross_entropy(scores, y)
        loss.backward()
        self.optimizer.step()
        return loss.detach(), scores.detach()

    def eval_step(self, x, edges, y):
        self.eval()
        scores = self(x, edges)  # expect: PLM019
        loss = F.cross_entropy(scores, y)
        return loss, scores

    def step_eval(self, x, edges):
        self.eval()
        # trap: nothing is recorded
        with torch.no_grad():
            return self(x, edges)

    def warmed(self, x, edges):
        self.eval()
        # trap: no name of what measures, and seen once
        return self(x, edges)


class Trainer:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def fit_batch(self, x, y):
        self.net.train()
        loss = F.cross_entropy(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def run_validation(self, x, y):
        self.net.eval()
        scores = self.net(x)  # likely: PLM019
        return F.cross_entropy(scores, y).item()

    def saliency_score(self, x, at):
        self.net.eval()
        x.requires_grad_()
        # trap: it is differentiated
        self.net(x)[:, at].sum().backward()
        return x.grad


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.layer(x)

    def train_batch(self, x, y, optimizer):
        loss = self.loss(self(x), y)
        loss.backward()
        optimizer.step()

    def eval_batch(self, x, y):
        return self.loss(self(x), y)  # likely: PLM019

    @torch.no_grad()
    def val_step(self, x, y):
        # trap: nothing is recorded
        return self.loss(self(x), y)


class Shown(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)

    def forward(self, x):
        return self.conv(x)

    def eval_batch(self, x):
        # trap: whoever trains this may run it without recording
        return self(x)

    def test_one(self, x):
        self.eval()
        # trap: nothing of this class learns, and who asks may ask once
        return self(x)


def measure(model, data):
    loss, scores = model.eval_step(data.x, data.edges, data.y)
    return loss.item(), (scores.argmax(-1) == data.y).float().mean().item()


def train(model, data, epochs):
    for epoch in range(epochs):
        model.train_step(data.x.cuda(), data.edges.cuda(), data.y.cuda())
        if epoch % 10 == 0:
            print(measure(model, data))
