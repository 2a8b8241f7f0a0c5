import random

import torch
import torch.nn.functional as F

# trap: nothing here comes in another shape
torch.backends.cudnn.benchmark = True


class Clips(torch.utils.data.Dataset):
    def __init__(self, waves, frames, hop):
        self.waves = waves
        self.frames = frames
        self.hop = hop

    def __getitem__(self, at):
        mel, wave = self.waves[at]
        # trap: of one length, wherever it starts
        start = random.randint(0, len(mel) - self.frames)
        end = start + self.frames
        mel, wave = mel[start:end], wave[start * self.hop : end * self.hop]
        # trap: a stripe is written to, and the whole keeps its shape
        width = random.randint(0, 20)
        first = random.randint(0, self.frames - width)
        mel[first : first + width] = 0.0
        mel[first : first + width] *= 0.5
        mel[first : first + width].zero_()
        return mel, wave


class Crops(torch.utils.data.Dataset):
    def __init__(self, images, size):
        self.images = images
        self.size = size

    def __getitem__(self, at):
        image = self.images[at]
        side = random.randint(self.size // 2, self.size)
        top = random.randint(0, image.shape[1] - side)
        left = random.randint(0, image.shape[2] - side)
        # trap: brought to one size below
        part = image[:, top : top + side, left : left + side]
        return F.interpolate(part[None], size=self.size)[0]


def mixed(images, others, side):
    top = random.randint(0, 10)
    side = random.randint(1, side)
    # trap: a patch that goes into another image
    images[:, :, top : top + side] = others[:, :, top : top + side]
    return images
