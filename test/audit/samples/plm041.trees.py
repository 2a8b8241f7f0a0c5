import glob
import xml.etree.ElementTree as ET

import numpy as np
from torch.utils.data import DataLoader


class Annotated:
    def __init__(self, folder):
        self.trees = [ET.parse(path).getroot() for path in glob.glob(folder)]  # expect: PLM041
        # trap: one block
        self.sizes = np.array([len(tree) for tree in self.trees])

    def __len__(self):
        return len(self.sizes)

    def example(self, at):
        return self.sizes[at], len(self.trees[at])

    __getitem__ = example


class Alone:
    # trap: no loader is given one
    def __init__(self, folder):
        self.trees = [ET.parse(path) for path in glob.glob(folder)]

    def __len__(self):
        return len(self.trees)

    def __getitem__(self, at):
        return self.trees[at]


class Shown:
    def __init__(self, folder):
        self.data = AnnotatedDataset(folder)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, at):
        return self.data[at]


class AnnotatedDataset:
    def __init__(self, folder):
        self.trees = [ET.parse(path) for path in glob.glob(folder)]  # expect: PLM041

    def __len__(self):
        return len(self.trees)

    def __getitem__(self, at):
        return self.trees[at]


def loaders(folder):
    return DataLoader(Annotated(folder), num_workers=4), DataLoader(Shown(folder), num_workers=4)
