import cv2
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        photo = cv2.imread(self.paths[at])
        photo = np.moveaxis(photo, -1, 0) / 255
        return photo, self.labels[at]  # expect: PLM043


class Opened(Dataset):
    def __getitem__(self, at):
        photo = Image.open(self.paths[at])
        return np.array(photo) / 255.0, self.labels[at]  # expect: PLM043


class Cast(Dataset):
    def __getitem__(self, at):
        photo = cv2.imread(self.paths[at]).astype(np.float32)
        photo = np.moveaxis(photo, -1, 0) / 255
        # trap: cast before it is divided
        return photo, self.labels[at]


class Typed(Dataset):
    def __getitem__(self, at):
        photo = Image.open(self.paths[at])
        # trap: made float32 from the start
        return np.array(photo, dtype=np.float32) / 255.0, self.labels[at]


def train(net, criterion, paths, labels, optimizer):
    for photos, wanted in DataLoader(Photos(paths, labels), batch_size=32):
        photos = photos.cuda().float()  # expect: PLM043
        # trap: whole numbers are small until they are cast
        wanted = wanted.cuda().float()
        loss = criterion(net(photos), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_cast(net, criterion, paths, labels, optimizer):
    for photos, wanted in DataLoader(Photos(paths, labels), batch_size=32):
        # trap: cast before it is sent
        photos = photos.float().cuda()
        loss = criterion(net(photos), wanted.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class OpenedBefore(Dataset):
    def __init__(self, paths):
        self.images = [np.array(Image.open(path)) for path in paths]
        self.narrow = [np.array(Image.open(path), dtype=np.float32) for path in paths]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, at):
        image = self.images[at] / 255.0
        image = torch.from_numpy(image).permute(2, 0, 1)
        # trap: narrowed when they were opened
        narrow = torch.from_numpy(self.narrow[at] / 255.0).permute(2, 0, 1)
        return image, narrow  # expect: PLM043
