import albumentations
import numpy as np
from PIL import Image
from torch.utils.data import Dataset


class Paths(Dataset):
    def __init__(self, paths, size):
        self.paths = paths
        self.augment = albumentations.SmallestMaxSize(max_size=size)

    def opened(self, path):
        photo = np.array(Image.open(path)).astype(np.uint8)
        photo = self.augment(image=photo)["image"]
        photo = photo / 127.5 - 1.0
        return photo  # expect: PLM043

    def __getitem__(self, at):
        example = dict()
        example["image"] = self.opened(self.paths[at])
        example["path"] = self.paths[at]
        return example


class Turned(Dataset):
    def __getitem__(self, at):
        photo = np.array(Image.open(self.paths[at])) / 128 - 1
        photo = photo.transpose(2, 0, 1)
        example = {"label": self.labels[at]}
        example["image"] = photo  # expect: PLM043
        return example


class Narrow(Dataset):
    def opened(self, path):
        photo = np.array(Image.open(path)).astype(np.uint8)
        photo = self.augment(image=photo)["image"]
        # trap: cast once it is scaled
        return (photo / 127.5 - 1.0).astype(np.float32)

    def __getitem__(self, at):
        example = {}
        example["image"] = self.opened(self.paths[at])
        return example


class Before(Dataset):
    def __getitem__(self, at):
        photo = np.array(Image.open(self.paths[at])).astype(np.float32)
        photo = self.augment(image=photo)["image"]
        example = {}
        # trap: cast before it is augmented
        example["image"] = photo / 127.5 - 1.0
        return example
