import numpy as np
import torch
import torch.nn.functional as F


class Weighed:
    def __init__(self, net, optimizer, size, device):
        self.net = net
        self.optimizer = optimizer
        self.hardness = torch.zeros(size, device=device)
        self.seen = torch.zeros(size, device=device)
        self.means = torch.zeros(size, device=device)
        self.cut = torch.zeros(size, device=device)
        self.terms = None

    def step(self, rows, x, y):
        losses = F.cross_entropy(self.net(x), y, reduction="none")
        loss = losses.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.hardness[rows] = losses  # expect: PLM017
        # trap: without its graph
        self.seen[rows] = losses.detach()
        with torch.no_grad():
            # trap: nothing is recorded
            self.means[rows] = losses / 2
        self.cut[rows] = losses
        # trap: cut off right away
        self.cut.detach_()

    def summed(self, x, y):
        # trap: begun anew in every step, and differentiated
        self.terms = torch.zeros(2)
        self.terms[0] = F.cross_entropy(self.net(x), y)
        self.terms[1] = self.net(x).pow(2).mean()
        self.optimizer.zero_grad()
        self.terms.sum().backward()
        self.optimizer.step()

    def fit(self, loader):
        self.net.train()
        for rows, x, y in loader:
            self.step(rows, x, y)
            self.summed(x, y)


class Replay:
    def __init__(self, size):
        self.priority = torch.ones(size)
        self.reward = np.zeros(size)

    def update_priority(self, places, errors):
        self.priority[places] = errors.abs()

    def set_rewards(self, places, rewards):
        # trap: an array takes nothing that has a graph
        self.reward[places] = rewards

    def set_safely(self, places, errors):
        # trap: cut off here, whatever comes
        self.priority[places] = errors.detach().abs()


def train(net, loader, optimizer, size):
    replay = Replay(size)
    net.train()
    for places, x, y in loader:
        errors = net(x) - y
        loss = errors.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        replay.update_priority(places, errors)  # expect: PLM017
        replay.set_safely(places, errors)
        replay.set_rewards(places, errors.detach().cpu().numpy())


class Agent:
    def __init__(self, net, optimizer, replay):
        self.net = net
        self.optimizer = optimizer
        self.replay = replay

    def update(self):
        places, x, y = self.replay.sample()
        errors = self.net(x) - y
        loss = errors.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.replay.priorities[places] = errors.abs()  # expect: PLM017
        # trap: without its graph
        self.replay.errors[places] = errors.detach()

    def fit(self, steps):
        for _ in range(steps):
            self.update()


def banked(net, loader, optimizer, size):
    bank = torch.zeros(size, 128)
    kept = torch.zeros(size, 128)
    net.train()
    for rows, x, y in loader:
        z = net(x)
        loss = F.cross_entropy(z @ bank.detach().t(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank[rows] = z  # expect: PLM017
        kept[rows] = z
        # trap: cut off right away
        kept.detach_()


def gathered(net, loader, optimizer):
    net.train()
    for x, y in loader:
        # trap: of this step, and differentiated
        losses = torch.zeros(2)
        losses[0] = F.cross_entropy(net(x), y)
        losses[1] = net(x).pow(2).mean()
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
