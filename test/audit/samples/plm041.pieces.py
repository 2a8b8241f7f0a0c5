"""Pieces, pairs and what others read: an object for each example, or one for a whole data set."""

from pathlib import Path

import numpy as np
import torch
from reading import load_filepaths_and_text, read_settings
from torch.utils.data import DataLoader, Dataset


class Pieces(Dataset):
    def __init__(self, path, length, tokenizer, prompt):
        text = open(path).read()
        # trap: one for each letter there is
        self.stoi = {letter: at for at, letter in enumerate(sorted(set(text)))}
        # trap: one text
        self.prompt = tokenizer(prompt)["input_ids"]
        self.settings = read_settings(path)
        self.pieces = [text[at : at + length] for at in range(len(text) - length)]  # expect: PLM041

    def __len__(self):
        return len(self.pieces)

    def __getitem__(self, at):
        return self.prompt, [self.stoi[letter] for letter in self.pieces[at]], self.settings


class Pairs(Dataset):
    def __init__(self, parts):
        self.pairs = []
        for images, labels in parts:
            self.pairs.extend(zip(images, labels))  # expect: PLM041

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, at):
        return self.pairs[at]


class Heard(Dataset):
    def __init__(self, listed, root, parts):
        self.lines = load_filepaths_and_text(listed)  # expect: PLM041
        self.names = [path.stem for path in sorted(Path(root).glob("*.wav"))]  # expect: PLM041
        # trap: one block of all
        self.waves = torch.cat([torch.from_numpy(np.load(part)) for part in parts])

    def __len__(self):
        return len(self.names)

    def __getitem__(self, at):
        return self.lines[at], self.names[at], self.waves[at]


def loaders(path, tokenizer, parts, listed, root):
    for data in (Pieces(path, 64, tokenizer, "Say:"), Pairs(parts), Heard(listed, root, parts)):
        yield DataLoader(data, batch_size=32, num_workers=4, pin_memory=True)


def first(path, tokenizer, parts, listed, root):
    return (
        DataLoader(Pieces(path, 64, tokenizer, "Say:"), batch_size=32, num_workers=4, pin_memory=True),
        DataLoader(Pairs(parts), batch_size=32, num_workers=4, pin_memory=True),
        DataLoader(Heard(listed, root, parts), batch_size=32, num_workers=4, pin_memory=True),
    )
