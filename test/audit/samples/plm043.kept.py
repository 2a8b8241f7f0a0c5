import numpy as np
import torch
from torch.utils.data import Dataset


class Memory(dict):
    def __init__(self, capacity, device):
        super().__init__()
        self.device = device
        self["reward"] = np.zeros((capacity, 1))
        self["done"] = np.zeros((capacity, 1), dtype=np.float32)
        self.fields = {"value": np.zeros(capacity)}

    def draw(self, rows):
        rewards = torch.from_numpy(self["reward"][rows]).to(self.device)  # expect: PLM043
        # trap: made as float32
        done = torch.from_numpy(self["done"][rows]).to(self.device)
        values = torch.from_numpy(self.fields["value"][rows]).to(self.device)  # expect: PLM043
        return rewards, done, values


class Masked(Dataset):
    def __init__(self, images, side):
        self.images = images
        self.side = side

    def cut(self, image):
        mask = np.zeros((self.side, self.side))
        hole = np.zeros((self.side, self.side))
        if image.shape[0] > self.side:
            mask = np.ones((self.side, self.side))
        return image[: self.side], mask, hole

    def __getitem__(self, at):
        image, mask, hole = self.cut(self.images[at])
        example = {}
        example["mask"] = torch.from_numpy(mask)  # expect: PLM043
        # trap: what puts the batches together makes it float32
        example["hole"] = torch.from_numpy(hole)
        return example


def collate(rows):
    mask = torch.stack([row["mask"] for row in rows])
    hole = torch.stack([row["hole"] for row in rows])
    hole = hole.to(memory_format=torch.contiguous_format).float()
    return {"mask": mask, "hole": hole}


def train(net, loader, optimizer, device="cuda"):
    for images, labels in loader:
        parts = {"images": images, "noise": torch.from_numpy(np.random.randn(*images.shape))}  # expect: PLM043
        parts = {name: part.to(device) for name, part in parts.items()}
        # trap: cast before they are sent
        others = {"noise": torch.from_numpy(np.random.randn(*images.shape)).float()}
        others = {name: part.to(device) for name, part in others.items()}
        loss = net(parts["images"] + parts["noise"].float() + others["noise"]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
