import torch
from torch.utils.data import Dataset
from torchvision import datasets


class Pairs(Dataset):
    def __init__(self, root):
        self.data = datasets.MNIST(root).data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, at):
        left = torch.from_numpy(self.data[at].numpy() / 255.0)
        # trap: cast before, and so float32
        right = torch.from_numpy(self.data[at - 1].float().numpy() / 255.0)
        return left[None], right[None]  # expect: PLM043


class Cast(Dataset):
    def __init__(self, root):
        self.data = datasets.MNIST(root).data.float()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, at):
        # trap: float32, as it is kept
        return torch.from_numpy(self.data[at].numpy() / 255.0)
