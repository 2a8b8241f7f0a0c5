"""Copies of what learns, whatever they are called."""

import copy

import torch
import torch.nn.functional as F


class Learner:
    def __init__(self, group, mixer):
        self.group, self.mixer = group, mixer
        self.lagging_group = copy.deepcopy(group)
        self.lagging_mixer = copy.deepcopy(mixer)
        self.params = [*group.parameters(), *mixer.parameters()]
        self.optimizer = torch.optim.Adam(self.params)

    def cuda(self):
        for net in (self.group, self.mixer):
            net.cuda()

    def train(self, batches):
        for batch, rewards in batches:
            values = self.mixer(self.group.forward(batch))
            ahead = self.lagging_group.forward(batch)  # expect: PLM020
            with torch.no_grad():
                # trap: nothing is recorded
                mixed = self.lagging_mixer(ahead)
            loss = F.mse_loss(values, (rewards + mixed).detach())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def refresh(self):
        self.lagging_group.load_state_dict(self.group.state_dict())
        self.lagging_mixer.load_state_dict(self.mixer.state_dict())


class Meta:
    def __init__(self, model):
        self.model = model
        self.fast = copy.deepcopy(model)
        self.outer = torch.optim.Adam(model.parameters())
        self.inner = torch.optim.SGD(self.fast.parameters(), lr=0.1)

    def train(self, tasks):
        for x, y in tasks:
            self.fast.load_state_dict(self.model.state_dict())
            # trap: a copy that learns
            loss = F.mse_loss(self.fast(x.cuda()), y.cuda())
            self.inner.zero_grad()
            loss.backward()
            self.inner.step()


class Frozen:
    def __init__(self, model):
        self.model = model
        self.before = copy.deepcopy(model).requires_grad_(False)
        self.optimizer = torch.optim.Adam(model.parameters())

    def train(self, loader):
        for x in loader:
            # trap: frozen by its flags
            loss = F.mse_loss(self.model(x.cuda()), self.before(x.cuda()))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.before.load_state_dict(self.model.state_dict())
