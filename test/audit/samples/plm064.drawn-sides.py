import random

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset

torch.backends.cudnn.benchmark = True  # expect: PLM064


def to_side(image, side):
    return F.interpolate(image[None], size=side, mode="bilinear")[0]  # expect: PLM064


class Boxes(Dataset):
    def __init__(self, images, side=416):
        self.images = images
        self.side = side
        self.turn = 0

    def __getitem__(self, at):
        return self.images[at]

    def collate(self, images):
        if self.turn % 10 == 0:
            self.side = random.choice(range(320, 640, 32))
        self.turn += 1
        return torch.stack([to_side(image, self.side) for image in images])
