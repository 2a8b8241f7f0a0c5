import random

import cv2
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Sampler
from torchvision.transforms.functional import to_tensor

torch.backends.cudnn.benchmark = True


class Photos(Dataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        # trap: what it is handed may make them one size
        return self.transform(Image.open(self.paths[at]).convert("RGB"))


class Frames(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        # trap: batches of several are of one size, or fail
        return to_tensor(cv2.imread(self.paths[at]))


class Shuffled(Sampler):
    def __init__(self, n, size):
        self.n = n
        self.size = size
        self.seed = 0

    def __iter__(self):
        order = random.sample(range(self.n), self.n)
        size = self.size
        for at in order:
            # trap: the order is drawn, the size is not
            yield (at, size)

    def begin(self):
        # trap: no size
        self.seed = random.randint(0, 1000)


photos = DataLoader(Photos(["a.jpg"], None), batch_size=1, num_workers=4)
frames = DataLoader(Frames(["a.jpg"]), batch_size=16, num_workers=4)


def max_of_scores(scores):
    return max(scores)


def summary(batch):
    # trap: no batch is put together here
    return max_of_scores([len(one) for one in batch])
