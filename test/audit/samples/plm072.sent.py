"""Batches that a method of the class sends to the device, or what it calls for that."""

import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def onto(thing):
    return thing.to(device)


class Solving:
    def __init__(self, dataset, net):
        self.net = onto(net)
        self.opt = torch.optim.Adam(self.net.parameters())
        self.loader = DataLoader(dataset, batch_size=16, num_workers=4, pin_memory=True)
        self.turns = iter(self.loader)

    def learn(self, sounds):
        self.take(onto(sounds))

    def learn_there(self, sounds):
        self.take(sounds)

    def take(self, x):
        loss = (self.net(x) - x).abs().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def train(self, many):
        for _ in range(many):
            sounds = torch.cat([next(self.turns), next(self.turns)])  # expect: PLM072
            self.learn(sounds)
            # trap: the parts are sent, and joined there
            self.learn(torch.cat([onto(next(self.turns)), onto(next(self.turns))]))
            # trap: nobody sends it
            self.learn_there(torch.cat([next(self.turns), next(self.turns)]))
