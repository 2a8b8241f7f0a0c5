"""Folders of pictures that are gone through once, before the training, and kept as tensors."""

import torch
from lightning import LightningDataModule
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms
from torchvision.datasets import ImageFolder


def all_at_once(root):
    folder = ImageFolder(root, transform=transforms.ToTensor())
    images = torch.stack([image for image, _ in folder])  # expect: PLM040
    labels = torch.tensor([label for _, label in folder.samples])
    return DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)


def one_by_one(root):
    folder = datasets.ImageFolder(root, transform=transforms.ToTensor())
    images, labels = [], []
    for image, label in folder:
        images.append(image)  # expect: PLM040
        labels.append(label)
    return DataLoader(TensorDataset(torch.stack(images), torch.tensor(labels)), batch_size=64)


def small(root):
    digits = datasets.MNIST(root, transform=transforms.ToTensor())
    # trap: it is in memory as it is
    images = torch.stack([image for image, _ in digits])
    return DataLoader(TensorDataset(images), batch_size=64)


def named(root):
    folder = ImageFolder(root)
    # trap: names alone
    names = [path for path, _ in folder.samples]
    return names, DataLoader(folder, batch_size=64)


class Pictures(LightningDataModule):
    def setup(self, stage=None):
        folder = ImageFolder(self.root, transform=transforms.ToTensor())
        examples = [folder[i] for i in range(len(folder))]  # expect: PLM040
        # trap: numbers alone
        labels = [folder.targets[i] for i in range(len(folder))]
        self.train_set, self.labels = torch.utils.data.random_split(examples, [0.9, 0.1])[0], labels
