"""What a method returns and the constructor keeps."""

import os
import pickle

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Logs(Dataset):
    def __init__(self, path):
        self.names, self.logs = self.read(path)  # expect: PLM041

    def read(self, path):
        names, logs = zip(*pickle.load(open(path, "rb")).items())
        return names, logs

    def __getitem__(self, at):
        return self.names[at], self.logs[at]


class Packed(Dataset):
    def __init__(self, path):
        self.names, self.logs = self.read(path)  # trap: arrays

    def read(self, path):
        names, logs = zip(*pickle.load(open(path, "rb")).items())
        names, logs = np.array(names), np.array(logs)
        return names, logs

    def __getitem__(self, at):
        return self.names[at], self.logs[at]


class Parts(Dataset):
    def __init__(self, path):
        self.x, self.y = self.read(path)  # trap: what was pickled by name may be arrays

    def read(self, path):
        data = pickle.load(open(path, "rb"))
        return data["x"], data["y"]

    def __getitem__(self, at):
        return self.x[at], self.y[at]


class Again(Dataset):
    def __init__(self, path):
        self.rows = self.read(path)  # trap: it calls itself, and reads nothing

    def read(self, path):
        return self.read(path)

    def __getitem__(self, at):
        return self.rows[at]


class Folders(Dataset):
    def __init__(self, path):
        self.classes = sorted(self.names(path))  # trap: only the constructor's own methods read them
        self.paths = self.scan(path)  # expect: PLM041

    def names(self, path):
        return os.listdir(path)

    def scan(self, path):
        return [(one, self.classes.index(one)) for one in os.listdir(path)]

    def __getitem__(self, at):
        return self.paths[at]


def loaders(path):
    return [
        DataLoader(Logs(path), num_workers=8),
        DataLoader(Folders(path), num_workers=8),
        DataLoader(Packed(path), num_workers=8),
        DataLoader(Parts(path), num_workers=8),
        DataLoader(Again(path), num_workers=8),
    ]
