import os

import torch
from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms

torch.backends.cudnn.benchmark = True


class Squares(Dataset):
    def __init__(self, root, side=256):
        self.paths = [os.path.join(root, name) for name in os.listdir(root)]
        # trap: both sides are set before what is over a multiple goes
        self.prepare = transforms.Compose([
            transforms.Resize((side, side)),
            transforms.Lambda(lambda one: one.crop((0, 0, one.width // 32 * 32, one.height // 32 * 32))),
            transforms.ToTensor(),
        ])

    def __getitem__(self, at):
        return self.prepare(Image.open(self.paths[at]).convert("RGB"))


class Middles(Dataset):
    def __init__(self, root, side=256):
        self.paths = [os.path.join(root, name) for name in os.listdir(root)]
        # trap: the middle is of one size again
        self.prepare = transforms.Compose([
            transforms.Resize(side),
            transforms.CenterCrop(side),
            transforms.Lambda(lambda one: one.crop((0, 0, one.width // 32 * 32, one.height // 32 * 32))),
            transforms.ToTensor(),
        ])

    def __getitem__(self, at):
        return self.prepare(Image.open(self.paths[at]).convert("RGB"))
