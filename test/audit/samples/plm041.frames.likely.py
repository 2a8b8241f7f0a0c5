"""Tables of pandas that workers read row by row, and a list of numbers of which they read windows."""

import os

import numpy as np
import pandas as pd
import torch
from PIL import Image
from settings import CfgNode as CN
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, root):
        self.root = root
        self.table = pd.read_csv(os.path.join(root, "labels.csv")).dropna()  # likely: PLM041

    def __len__(self):
        return len(self.table)

    def __getitem__(self, at):
        row = self.table.iloc[at]
        return Image.open(os.path.join(self.root, row["path"])), int(row["label"])


class Numbers(Dataset):
    def __init__(self, path):
        # trap: nothing but numbers is read of it
        self.table = pd.read_csv(path)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, at):
        return torch.tensor(self.table.iloc[at].values)


class Arrays(Dataset):
    def __init__(self, root):
        table = pd.read_csv(os.path.join(root, "labels.csv"))
        # trap: one array of bytes
        self.paths = np.array(table["path"].tolist()).astype(np.bytes_)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return Image.open(os.path.join("images", self.paths[at].decode()))


class Letters(Dataset):
    def __init__(self, text, length):
        self.length = length
        self.number_of = {letter: at for at, letter in enumerate(sorted(set(text)))}
        self.numbers = [self.number_of[letter] for letter in text]  # likely: PLM041
        # trap: one array
        self.packed = np.array([self.number_of[letter] for letter in text])

    def __len__(self):
        return len(self.numbers) - self.length

    def __getitem__(self, at):
        window = self.numbers[at : at + self.length]
        return torch.tensor(window), torch.from_numpy(self.packed[at : at + self.length])


class Trainer:
    @staticmethod
    def default_config():
        config = CN()
        config.num_workers = 4
        return config

    def __init__(self, config, model, examples):
        self.config, self.model, self.examples = config, model, examples

    def run(self, optimizer):
        loader = DataLoader(self.examples, batch_size=8, num_workers=self.config.num_workers)
        for x, y in loader:
            loss = self.model(x.cuda(), y.cuda())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
