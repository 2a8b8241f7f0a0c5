import torch
from torch.utils.data import Dataset


def read(path):
    return torch.load(path, map_location="cpu").cuda()  # expect: PLM039


def moved(x):
    # trap: a loop asks for it, too
    return x.cuda()


class Rows(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, at):
        return self.example(at)

    def example(self, at):
        return read(self.paths[at]), moved(torch.zeros(1))


def train(model, loader, optimizer):
    for x, y in loader:
        loss = (model(moved(x)) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
