import json
import pickle

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.rows = [json.loads(line) for line in open(path)]  # expect: PLM041

    def __getitem__(self, at):
        return self.rows[at]


class Pairs(Dataset):
    def __init__(self, lines):
        self.pairs = []
        for line in lines:
            self.pairs.append((line, len(line)))  # expect: PLM041

    def __getitem__(self, at):
        return self.pairs[at]


class Packed(Dataset):
    def __init__(self, path):
        # trap: one array, whatever its length
        self.rows = np.load(path, mmap_mode="r")

    def __getitem__(self, at):
        return torch.from_numpy(self.rows[at])


class Alone(Dataset):
    def __init__(self, path):
        # trap: read by this process only
        self.rows = [json.loads(line) for line in open(path)]

    def __getitem__(self, at):
        return self.rows[at]


class Unused(Dataset):
    def __init__(self, path):
        # trap: nobody here gives it to workers
        self.rows = [json.loads(line) for line in open(path)]

    def __getitem__(self, at):
        return self.rows[at]


def loaders(path, lines, workers):
    pairs = Pairs(lines)
    return (
        DataLoader(Rows(path), num_workers=8),
        DataLoader(dataset=pairs, num_workers=workers),
        DataLoader(Packed(path), num_workers=8),
        DataLoader(Alone(path), num_workers=0),
    )


def records(path):
    for line in open(path):
        yield json.loads(line)


def numbers(path):
    for line in open(path):
        yield float(line)


class Collected(Dataset):
    def __init__(self, path):
        self.records = list(records(path))  # expect: PLM041
        # trap: handed out one by one
        self.source = records(path)
        # trap: numbers
        self.numbers = list(numbers(path))

    def __getitem__(self, at):
        return self.records[at]


def collected(path):
    return DataLoader(Collected(path), num_workers=4)


class Listed(Dataset):
    def __init__(self, path):
        self.names, self.labels = self.scan(path)  # expect: PLM041
        # trap: packed into arrays before they are handed out
        self.boxes, self.sizes = self.measure(path)
        # trap: what was pickled side by side may be arrays
        self.means, self.spreads = pickle.load(open(path + ".stats", "rb"))
        # trap: numbers
        self.first, self.last = 0, len(self.names)

    def scan(self, path):
        names, labels = [], []
        for line in open(path):
            name, label = line.split()
            names.append(name)
            labels.append(int(label))
        return names, labels

    def measure(self, path):
        boxes, sizes = [], []
        for line in open(path):
            low, high = line.split(",")
            boxes.append([float(low), float(high)])
            sizes.append(float(high) - float(low))
        return np.array(boxes), np.array(sizes)

    def __getitem__(self, at):
        return self.names[at], self.labels[at], self.boxes[at], self.sizes[at], self.means[at], self.spreads, self.first, self.last


def listed(path):
    return DataLoader(Listed(path), num_workers=4)
