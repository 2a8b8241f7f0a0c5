import librosa
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
