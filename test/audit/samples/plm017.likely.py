import random

import torch


class ImagePool:
    def __init__(self, size=50):
        self.size = size
        self.images = []

    def query(self, images):
        given = []
        for image in images:
            image = torch.unsqueeze(image, 0)
            if len(self.images) < self.size:
                self.images.append(image)  # likely: PLM017
                given.append(image)
            else:
                at = random.randint(0, self.size - 1)
                given.append(self.images[at].clone())
                self.images[at] = image  # likely: PLM017
        return torch.cat(given)


class CleanPool:
    def __init__(self, size=50):
        self.size = size
        self.images = []

    def query(self, images):
        for image in images.detach():
            image = torch.unsqueeze(image, 0)
            # trap: cut off
            self.images.append(image)
        return torch.cat(self.images[-self.size :])


class Record:
    def __init__(self):
        self.paths = []

    def query(self, paths):
        for path in paths:
            # trap: no tensor
            self.paths.append(path)


class Actor:
    def __init__(self, model):
        self.model = model
        self.scores, self.rewards = [], []

    def action_train(self, state):
        score, logit = self.model(state)
        # trap: emptied by `clear`, and read by who differentiates it in another file
        self.scores.append(score)

    def clear(self):
        self.scores = []


def play(player, states, opt):
    for state in states:
        player.action_train(state)
        loss = compute_loss(player)
        loss.backward()
        opt.step()
        player.clear()
