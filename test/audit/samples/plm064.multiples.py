import os

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

torch.backends.cudnn.benchmark = True  # expect: PLM064


class Photos(Dataset):
    def __init__(self, root, side: int):
        self.paths = [os.path.join(root, name) for name in os.listdir(root)]
        self.side = side
        self.prepare = transforms.Compose([transforms.Resize(self.side), transforms.ToTensor()])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        image = Image.open(self.paths[at]).convert("RGB")
        image = transforms.functional.resize(image, self.side)
        width, height = image.size
        return self.prepare(image.crop((0, 0, width - width % 8, height - height % 8)))
