import pickle

import numpy as np
from torch.utils.data import DataLoader, Dataset


class WindowSet(Dataset):
    def __init__(self, episodes, horizon):
        self.windows = self.make_windows(episodes, horizon)
        self.packed = self.pack_windows(episodes, horizon)
        self.spans = spans_of(episodes, horizon)
        self.pairs = list(pairs_of(episodes))  # likely: PLM041
        self.total = self.count(episodes)

    def make_windows(self, episodes, horizon):
        windows = []
        for at, length in enumerate(episodes.lengths):
            for start in range(length - horizon):
                windows.append((at, start, start + horizon))
        return windows  # likely: PLM041

    def pack_windows(self, episodes, horizon):
        # trap: one array is handed back
        windows = []
        for at, length in enumerate(episodes.lengths):
            windows.append((at, 0, length - horizon))
        windows = np.array(windows)
        return windows

    def count(self, episodes):
        # trap: a number
        return sum(episodes.lengths)

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, at):
        return self.windows[at], self.packed[at], self.spans[at], self.pairs[at]


def spans_of(episodes, horizon):
    return [(at, at + horizon) for at in episodes.starts]  # likely: PLM041


def pairs_of(episodes):
    for left, right in zip(episodes.starts, episodes.ends):
        yield left, right


class Totals(Dataset):
    def __init__(self, episodes):
        self.totals = list(self.numbers(episodes))

    def numbers(self, episodes):
        # trap: numbers, and nothing with parts
        for one in episodes:
            yield one.total

    def __getitem__(self, at):
        return self.totals[at]


class Scanned(Dataset):
    def __init__(self, episodes, horizon):
        self.spans, self.ends, self.total = self.scan(episodes, horizon)

    def scan(self, episodes, horizon):
        spans, ends = [], []
        for at, length in enumerate(episodes.lengths):
            spans.append((at, length - horizon))
            ends.append(length)
        # trap: the second is a list of numbers, made an array, and the third is one
        return spans, np.array(ends), len(spans)  # likely: PLM041

    def __getitem__(self, at):
        return self.spans[at], self.ends[at]


def unpickled(path):
    # trap: whatever was in it, this only opens it
    with open(path, "rb") as file:
        return pickle.load(file)


class Lengths(Dataset):
    def __init__(self, path):
        self.lengths = unpickled(path)

    def __getitem__(self, at):
        return self.lengths[at]


def train_loader(data, options):
    return DataLoader(data, batch_size=8, num_workers=options.workers)
