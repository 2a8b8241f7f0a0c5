"""What runs in a step may be taken from a list of methods."""

import random

import numpy as np
import torch


class Mixer:
    def __init__(self, device):
        self.device = device
        self.mixers = [self.mixed, self.swapped]
        self.looks = [self.looked]

    def mixed(self, target, image):
        order = np.random.permutation(target.size(0))
        return 0.5 * target + 0.5 * target[order, :], image  # likely: PLM070

    def swapped(self, target, image):
        # trap: they are made where they are needed
        order = torch.randperm(target.size(0), device=target.device)
        return target[order], image[order]

    def shifted(self, target, image):
        rows = np.roll(np.arange(image.size(0)), 1)
        return target, image[rows]  # likely: PLM070

    def turned(self, target, image):
        rows = [*range(1, 8), 0]
        return target, image[np.array(rows)] + image.size(-1)  # likely: PLM070

    def looked(self, image):
        # trap: taken from a list that no step asks
        rows = np.random.permutation(image.size(0))
        return image[rows]

    def show(self, image):
        return self.looks[0](image)

    def sized(self, pictures):
        # trap: a picture's size is no method of its
        rows = np.random.permutation(len(pictures))
        return pictures[rows], pictures.size

    def __call__(self, target, image):
        self.sized(np.zeros((4, 4)))
        target, image = self.mixers[random.randint(0, 1)](target, image)
        return random.choice([self.shifted, self.turned])(target, image)


def train(net, loader, optimizer, device):
    net.to(device)
    mixer = Mixer(device)
    for image, target in loader:
        target, image = mixer(target.to(device), image.to(device))
        loss = torch.nn.functional.cross_entropy(net(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
