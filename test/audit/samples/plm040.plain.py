import numpy as np
import torch


class ImageDataset(object):
    def __init__(self, paths):
        self.images = [np.load(path) for path in paths]  # expect: PLM040

    def __getitem__(self, item):
        return torch.from_numpy(self.images[item])

    def __len__(self):
        return len(self.images)


class Vocabulary:
    def __init__(self, words, tokenizer):
        # trap: no dataset
        self.words = [tokenizer.encode(word) for word in words]

    def __getitem__(self, item):
        return self.words[item]

    def __len__(self):
        return len(self.words)


class Dataset:
    # trap: no examples by number
    def __init__(self, paths):
        self.images = [np.load(path) for path in paths]
