import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")


class Mels(Dataset):
    def __init__(self, files, device=None):
        self.files = files
        self.device = device

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.load(self.files[index], map_location="cpu")


class Sent(Dataset):
    def __init__(self, files, device=None):
        self.files = files
        self.device = device

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.load(self.files[index], map_location="cpu").to(self.device)


def train(files, model, opt):
    mels = DataLoader(Mels(files, device), num_workers=4, batch_size=8)  # expect: PLM038, by hand
    # trap: its examples are on the device
    sent = DataLoader(Sent(files, device), batch_size=8)
    for x, y in zip(mels, sent):
        model(x.to(device, non_blocking=True), y).mean().backward()
        opt.step()
