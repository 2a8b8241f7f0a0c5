import torch
from torch.utils.data import DataLoader


def supply(pictures, size):
    first = DataLoader(pictures, batch_size=size, num_workers=4, pin_memory=True)
    chosen = first
    return chosen


def held(pictures, size):
    first = DataLoader(pictures, batch_size=size, num_workers=4, pin_memory=True)
    rows = sum(len(batch) for batch in first)
    # trap: what is handed back is another, which pins nothing
    second = DataLoader(pictures, batch_size=rows, num_workers=4)
    chosen = second
    return chosen


class Mirrors:
    def __init__(self, net, pictures, optimizer):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.batches = supply(pictures, 8)
        self.others = held(pictures, 8)

    def train(self):
        for picture in self.batches:
            picture = torch.cat([picture, picture.flip(3)], dim=0).cuda()  # expect: PLM072
            loss = (self.net(picture) - picture).abs().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def train_others(self):
        for picture in self.others:
            picture = torch.cat([picture, picture.flip(3)], dim=0).cuda()
            loss = (self.net(picture) - picture).abs().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
