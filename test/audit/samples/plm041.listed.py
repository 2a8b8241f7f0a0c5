"""Arrays that a dataset makes lists of: as many numbers as there are examples, or a few."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Tokens(Dataset):
    def __init__(self, path, size):
        self.tokens = np.load(path)
        self.size = size
        self.count = self.tokens.shape[0] - size
        self.tokens = self.tokens.tolist()  # expect: PLM041

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        return torch.tensor(self.tokens[at : at + self.size])


class Whole(Dataset):
    def __init__(self, tokens, size):
        self.tokens = tokens
        self.size = size
        # trap: the shape is a few numbers, however many examples there are
        self.edges = np.unique(tokens.shape).tolist()
        # trap: packed again below
        self.begins = np.arange(0, len(tokens), size).tolist()
        self.begins = np.array(self.begins)

    def __len__(self):
        return len(self.begins)

    def __getitem__(self, at):
        begin = self.begins[at]
        return torch.from_numpy(self.tokens[begin : begin + self.size]), self.edges[0]


def feed(path, tokens):
    return (
        DataLoader(Tokens(path, 64), batch_size=8, num_workers=4),
        DataLoader(Whole(tokens, 64), batch_size=8, num_workers=4),
    )
