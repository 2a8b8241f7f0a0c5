"""A list for each key."""

import os

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, root, names):
        self.root = root
        self.names = np.array(names)
        self.frames = {}
        for name in names:
            self.frames[name] = sorted(os.listdir(os.path.join(root, name)))  # expect: PLM041

    def __len__(self):
        return len(self.names)

    def __getitem__(self, at):
        return self.frames[self.names[at]]


class Arrays(Dataset):
    def __init__(self, root, names):
        self.root = root
        self.names = np.array(names)
        self.rows = {}
        for name in names:
            # trap: an array for each key
            self.rows[name] = np.load(os.path.join(root, name))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, at):
        return self.rows[self.names[at]]


def loaders(root, names):
    return DataLoader(Frames(root, names), num_workers=4), DataLoader(Arrays(root, names), num_workers=4)
