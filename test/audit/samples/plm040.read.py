import h5py
import librosa
import nibabel as nib
import numpy as np
import torch
from helpers import load_rgb
from torch.utils.data import Dataset


class Sounds(Dataset):
    def __init__(self, paths, labels):
        self.sounds = [self.read(path)[0] for path in paths]  # expect: PLM040
        self.images = {path: load_rgb(path) for path in paths}  # expect: PLM040
        # trap: numbers
        self.labels = [int(label) for label in labels]

    def read(self, path):
        return librosa.load(path)

    def __getitem__(self, at):
        return torch.from_numpy(self.sounds[at])


def header(path):
    return nib.load(path).shape


def decoded(path):
    return nib.load(path).get_fdata()


class Measured(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.shapes = []
        self.sizes = []
        for path in paths:
            # trap: how large it is
            self.shapes.append(header(path))
            volume = decoded(path)
            # trap: and this
            self.sizes.append(volume.shape[0])

    def __getitem__(self, i):
        return decoded(self.paths[i]), self.shapes[i]


class Decoded(Dataset):
    def __init__(self, paths):
        self.volumes = [decoded(path) for path in paths]  # expect: PLM040

    def __getitem__(self, i):
        return self.volumes[i]


class Packed(Dataset):
    def __init__(self, scenes, path):
        with h5py.File(path, "w") as file:
            for name, views in scenes.items():
                parts = []
                for view in views:
                    # trap: written to a file in the same turn
                    parts.append(decoded(view))
                file.create_dataset(name, data=np.stack(parts))


def label_of(path):
    return np.load(path)["labels"]


def header_of(path):
    return np.load(path).header


def cloud_of(path):
    return np.load(path)["points"]


class Parts(Dataset):
    def __init__(self, paths):
        # trap: small, and wanted
        self.labels = [label_of(path) for path in paths]
        # trap: no example
        self.headers = [header_of(path) for path in paths]
        self.clouds = [cloud_of(path) for path in paths]  # expect: PLM040

    def __getitem__(self, i):
        return self.clouds[i], self.labels[i]
