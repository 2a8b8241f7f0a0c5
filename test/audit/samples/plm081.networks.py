"""Copies that networks are given."""

import torch

from nets import Painter


class Cycle:
    def __init__(self, device):
        self.there = Painter().to(device)
        self.back = Painter().to(device)
        params = [*self.there.parameters(), *self.back.parameters()]
        self.optimizer = torch.optim.Adam(params)

    def forward(self, image, other):
        self.painted = self.there(image)
        self.returned = self.back(self.painted.clone())  # expect: PLM081
        self.bright = self.there(other)
        # trap: it is written into below
        self.again = self.back(self.bright.clone())
        self.bright.clamp_(0, 1)
        self.kept = image
        # trap: what was given may be changed by whoever gave it
        self.third = self.back(self.kept.clone())

    def step(self, image, other):
        self.forward(image, other)
        painted = self.there(other)
        copy = painted.detach().clone()  # expect: PLM081
        verdict = self.back(copy)
        loss = (self.returned - image).abs().mean() + self.again.mean() + self.third.mean() + verdict.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train(loader, device):
    cycle = Cycle(device)
    for image, other in loader:
        cycle.step(image.to(device), other.to(device))
