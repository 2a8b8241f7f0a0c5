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
