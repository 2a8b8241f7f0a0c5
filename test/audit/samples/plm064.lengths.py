"""Windows of another length in each batch."""

import random

import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


class Clips(torch.utils.data.Dataset):
    def __init__(self, waves, longest):
        self.waves = waves
        self.longest = longest

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, at):
        wave = self.waves[at]
        length = random.randint(self.longest // 2, self.longest)
        start = random.randint(0, len(wave) - length)
        return wave[start : start + length]
