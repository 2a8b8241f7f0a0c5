import json
import os

import lightning as L
import numpy as np
import torch
import torchaudio
from PIL import Image
from timm.data import create_transform
from torch.utils.data import DataLoader, Dataset, TensorDataset


def read_picture(path):
    return Image.open(path).convert("RGB")


def read_all(folder):
    pictures = []
    for name in os.listdir(folder):
        pictures.append(np.asarray(read_picture(os.path.join(folder, name))))
    return np.stack(pictures)


def split_of(folder):
    pictures, kinds = [], []
    for name in os.listdir(folder):
        pictures.append(read_picture(name))
        kinds.append(name[0])
    return pictures, kinds


class Mapped(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.pictures = list(map(read_picture, paths))  # expect: PLM040
        # trap: numbers, no examples
        self.sizes = list(map(os.path.getsize, paths))

    def __getitem__(self, i):
        return self.pictures[i]


class Stacked(Dataset):
    def __init__(self, folder):
        self.pictures = read_all(folder)  # expect: PLM040

    def __getitem__(self, i):
        return torch.from_numpy(self.pictures[i])


class Both(Dataset):
    def __init__(self, folder):
        self.pictures, self.kinds = split_of(folder)  # expect: PLM040

    def __getitem__(self, i):
        return self.pictures[i], self.kinds[i]


class Loaded(Dataset):
    def __init__(self, path):
        super().__init__()
        # trap: what was put together before, with its index
        self.data, self.slices = torch.load(path)

    def __getitem__(self, i):
        return self.data[self.slices[i]]


class Clips(Dataset):
    def __init__(self, clips):
        self.clips = clips

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return self.clips[i]


class Speech(L.LightningDataModule):
    def __init__(self, root):
        super().__init__()
        self.root = root
        # trap: paths are small
        self.names = [os.path.join(root, name) for name in os.listdir(root)]

    def load(self, path):
        wave, rate = torchaudio.load(path)
        return torchaudio.functional.resample(wave, rate, 16000)

    def setup(self, stage=None):
        clips = []
        for name in self.names:
            clips.append((self.load(name), name))  # expect: PLM040
        self.train, self.val = Clips(clips[:-100]), Clips(clips[-100:])

    def predict_dataloader(self):
        # trap: not before training
        return DataLoader([self.load(name) for name in self.names[:4]])


def loaders(paths, index):
    pictures = [read_picture(path) for path in paths]  # expect: PLM040
    train = Clips(pictures)
    with open(index) as file:
        rows = [json.loads(line) for line in file]
    # trap: lines of text
    return DataLoader(train), DataLoader(Clips(rows))


def preview(paths):
    # trap: a few
    pictures = [read_picture(path) for path in paths]
    return DataLoader(Clips(pictures))


def by_chunk(folders, work):
    for folder in folders:
        part = []
        for name in os.listdir(folder):
            # trap: a part of them, and then the next
            part.append(read_picture(name))
        work(DataLoader(Clips(part)))


def as_tensors(paths, kinds):
    pictures, numbers = [], []
    for path in paths:
        pictures.append(torch.from_numpy(np.asarray(read_picture(path))))  # expect: PLM040
        numbers.append(kinds.index(path[0]))
    # trap: one number of each
    return TensorDataset(torch.stack(pictures), torch.tensor(numbers))


def resized(dataset, sizes):
    # trap: one for each size, not for each example
    transforms = [create_transform(size) for size in sizes]
    return Clips(transforms)


def encoded_all(rows, tokenizer):
    found = []
    for row in rows:
        found.append(tokenizer(row["text"], padding="max_length", return_tensors="pt"))
    return found


def lengths_of(rows):
    found = []
    for row in rows:
        found.append(len(row["text"]))
    return found


def text_loader(rows, tokenizer):
    texts = encoded_all(rows, tokenizer)  # expect: PLM040
    # trap: numbers
    lengths = lengths_of(rows)
    return DataLoader(texts), DataLoader(lengths)
