"""Places that NumPy computes of other places, and those that are moved on by themselves."""

import numpy as np
import torch
from torch import nn


class Negatives(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.count = count
        self.proj = nn.Linear(width, width)

    def draw(self, codes):
        batch, length, width = codes.size()
        flat = codes.contiguous().view(-1, width)
        places = np.random.randint(1, length, size=self.count * batch)
        places += np.tile(np.arange(batch), self.count)
        places = np.remainder(places, length)
        rows = places + np.repeat(np.arange(batch), self.count) * length
        return flat[rows].view(batch, self.count, width)  # expect: PLM070

    def draw_moved(self, codes, length):
        places = np.random.randint(0, length, size=self.count)
        places += length
        places -= 1
        return codes[:, places]  # expect: PLM070

    def draw_either(self, codes, length):
        if self.training:
            rows = np.random.permutation(length)
        else:
            rows = np.arange(length)
        return codes[:, rows]  # expect: PLM070

    def draw_clipped(self, codes, shift, length):
        starts = np.random.randint(0, length, size=self.count)
        last = np.minimum(starts + shift, length - 1)
        return codes[:, last]  # expect: PLM070

    def draw_there(self, codes, length):
        places = torch.randint(1, length, (self.count,), device=codes.device)
        places += length
        places = torch.remainder(places, length)
        # trap: on the device
        return codes[:, places]

    def draw_one(self, codes, length):
        place = np.random.randint(1, length)
        place += 1
        place = np.remainder(place, length)
        # trap: a number
        return codes[:, place]

    def draw_sent(self, codes, length):
        if self.training:
            rows = np.random.permutation(length)
        else:
            rows = torch.arange(length, device=codes.device)
        more = codes[:, rows]  # likely: PLM070
        rows = torch.from_numpy(np.random.permutation(length)).to(codes.device)
        rows += 1
        # trap: sent there
        return more + codes[:, rows]

    def draw_beside(self, codes, length):
        shift = torch.arange(length, device=codes.device)
        shift = shift + np.random.randint(length)
        # trap: moved on there
        return codes[:, shift]

    def forward(self, codes):
        codes = self.proj(codes)
        length = codes.shape[1]
        total = self.draw(codes).sum() + self.draw_moved(codes, length).sum()
        total = total + self.draw_either(codes, length).sum() + self.draw_there(codes, length).sum()
        total = total + self.draw_one(codes, length).sum() + self.draw_sent(codes, length).sum()
        return total + self.draw_beside(codes, length).sum() + self.draw_clipped(codes, 1, length).sum()


def train(loader, optimizer):
    net = Negatives(8, 64).cuda()
    for x in loader:
        loss = net(x.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
