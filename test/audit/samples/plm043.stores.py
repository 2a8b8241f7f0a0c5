import h5py
import numpy as np
import torch
from torch.utils.data import Dataset


class Stored(Dataset):
    def __init__(self, path):
        self.store = h5py.File(path, "r")
        self.frames = self.store["frames"]

    def __getitem__(self, at):
        return torch.from_numpy(self.frames[at] / 255.0), at  # expect: PLM043


class StoredCast(Dataset):
    def __init__(self, path):
        self.store = h5py.File(path, "r")
        self.frames = self.store["frames"]
        self.depths = self.store["depths"]

    def __getitem__(self, at):
        # trap: torch casts it
        frame = torch.FloatTensor(self.frames[at] / 255.0)
        # trap: cast before it is divided
        depth = torch.from_numpy(self.depths[at].astype(np.float32) / 255.0)
        return frame, depth


class Normalized(Dataset):
    def __init__(self, path, transform=None):
        self.frames = h5py.File(path, "r")["frames"]
        self.transform = transform

    def __getitem__(self, at):
        frame = torch.from_numpy(self.frames[at] / 255.0)  # likely: PLM043
        if self.transform is not None:
            frame = self.transform(frame)
        return frame


class Unseen(Dataset):
    def __init__(self, frames, scaled):
        self.frames = frames
        self.scaled = scaled.astype(np.float32)

    def __getitem__(self, at):
        frame = torch.from_numpy(self.frames[at].transpose(2, 0, 1) / 255.0)  # likely: PLM043
        # trap: made float32 when the dataset was
        other = torch.from_numpy(self.scaled[at] / 255.0)
        return self.augment(frame), self.augment(other)

    def augment(self, frame):
        return frame.flip(-1)


class Later(Dataset):
    def __init__(self, frames):
        self.frames = frames

    def __getitem__(self, at):
        # trap: cast by its name below
        pixels = torch.from_numpy(self.frames[at] / 255.0)
        return self.augment(pixels.float())

    def augment(self, pixels):
        return pixels.flip(-1)
