import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset


def clip_of(path, change):
    picture = Image.open(path)
    return torch.stack([change(frame) for frame in picture.frames], dim=1)


def lengths_of(path):
    picture = Image.open(path)
    return picture.n_frames


class Clips(Dataset):
    def __init__(self, paths, change):
        self.paths = paths
        self.clips = [clip_of(path, change) for path in paths]  # expect: PLM040
        # trap: a number each
        self.lengths = [lengths_of(path) for path in paths]
        # trap: nothing is read
        self.starts = [np.array([0, length]) for length in self.lengths]

    def __getitem__(self, at):
        return self.clips[at], self.starts[at]
