import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset


class Replay(IterableDataset):
    def __init__(self, episodes):
        self.episodes = episodes

    def draw(self):
        episode = self.episodes[np.random.randint(len(self.episodes))]
        at = np.random.randint(8)
        gain = np.zeros_like(episode["reward"][at])
        frame = episode["frame"][at] / 255.0
        return frame, gain  # expect: PLM043

    def __iter__(self):
        while True:
            yield self.draw()


class Frames(Dataset):
    def __init__(self, path):
        self.frames = np.load(path)["frames"]

    def __getitem__(self, at):
        return {"frame": self.frames[at] / 255.0 - 0.5}  # expect: PLM043


class Cast(Dataset):
    def __init__(self, path):
        self.frames = np.load(path)["frames"]

    def __getitem__(self, at):
        # trap: cast before it is divided
        return self.frames[at].astype(np.float32) / 255.0


class Narrow(Dataset):
    def __init__(self, path):
        self.frames = np.load(path).astype(np.float32)

    def __getitem__(self, at):
        # trap: all of them were cast
        return self.frames[at] / 255.0


class Tensors(Dataset):
    def __init__(self, path):
        self.frames = torch.load(path)

    def __getitem__(self, at):
        # trap: torch divides bytes into float32
        return self.frames[at] / 255.0


class Unknown(Dataset):
    def __init__(self, frames):
        self.frames = frames

    def __getitem__(self, at):
        # trap: whoever made them may have made tensors
        return self.frames[at] / 255.0
