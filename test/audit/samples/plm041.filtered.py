"""Rows that were filtered, and texts that a function of another file takes apart."""

import json

import numpy as np
from cleaning import clean_text
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        with open(path) as file:
            rows = json.load(file)
        self.rows = list(filter(lambda row: row["long"], rows))  # expect: PLM041

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]


class Questions(Dataset):
    def __init__(self, pairs):
        self.asked = [clean_text(question) for question, _ in pairs]  # expect: PLM041

    def __len__(self):
        return len(self.asked)

    def __getitem__(self, at):
        return self.asked[at]


class Numbers(Dataset):
    def __init__(self, path):
        # trap: one array of numbers
        self.numbers = np.array(list(filter(None, np.load(path))))

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, at):
        return self.numbers[at]


def loaders(path, pairs):
    return [DataLoader(one, num_workers=4) for one in (Rows(path), Questions(pairs), Numbers(path))]


def apart(path, pairs):
    rows = DataLoader(Rows(path), num_workers=4)
    questions = DataLoader(Questions(pairs), num_workers=4)
    return rows, questions, DataLoader(Numbers(path), num_workers=4)
