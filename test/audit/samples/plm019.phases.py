from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
optimizer = torch.optim.Adam(net.parameters(), fused=True)


def by_phase(loaders, epochs):
    for _ in range(epochs):
        for phase in ["train", "val"]:
            net.train(phase == "train")
            right = 0
            for x, y in loaders[phase]:
                optimizer.zero_grad()
                out = net(x.cuda())  # expect: PLM019
                loss = F.cross_entropy(out, y.cuda())
                if phase == "train":
                    loss.backward()
                    optimizer.step()
                right += (out.argmax(1).cpu() == y).sum().item()
            print(phase, right)


def told(loaders, epochs):
    for _ in range(epochs):
        for phase in ["train", "val"]:
            net.train(phase == "train")
            for x, y in loaders[phase]:
                optimizer.zero_grad()
                # trap: it is told when
                with torch.set_grad_enabled(phase == "train"):
                    loss = F.cross_entropy(net(x.cuda()), y.cuda())
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            for x, y in loaders[phase]:
                # trap: so is this one
                with nullcontext() if phase == "train" else torch.no_grad():
                    loss = F.cross_entropy(net(x.cuda()), y.cuda())
                if phase == "train":
                    loss.backward()


def each_on_its_own(loaders, epochs):
    for _ in range(epochs):
        for phase in ["train", "val"]:
            for x, y in loaders[phase]:
                if phase == "train":
                    # trap: only what is differentiated is run
                    loss = F.cross_entropy(net(x.cuda()), y.cuda())
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()


def halves(loaders):
    for phase in ["train", "finetune"]:
        for x, y in loaders[phase]:
            # trap: nobody judges
            loss = F.cross_entropy(net(x.cuda()), y.cuda())
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


class Trainer:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)

    def batch(self, x, y, train=True):
        loss = F.cross_entropy(self.model(x), y)  # expect: PLM019
        if train:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def epoch(self, loader, train=True):
        for x, y in loader:
            print(self.batch(x.cuda(), y.cuda(), train))

    def fit(self, loader, valid):
        for _ in range(10):
            self.epoch(loader)
            self.epoch(valid, train=False)


class Guarded:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)

    def batch(self, x, y, train=True):
        # trap: who judges by it has recording switched off
        loss = F.cross_entropy(self.model(x), y)
        if train:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def fit(self, loader, valid):
        for x, y in loader:
            self.batch(x.cuda(), y.cuda())
        with torch.no_grad():
            for x, y in valid:
                self.batch(x.cuda(), y.cuda(), train=False)


class Always:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)

    def batch(self, x, y, train=True):
        # trap: everybody learns by it
        loss = F.cross_entropy(self.model(x), y)
        if train:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def fit(self, loader):
        for x, y in loader:
            self.batch(x.cuda(), y.cuda(), train=True)
