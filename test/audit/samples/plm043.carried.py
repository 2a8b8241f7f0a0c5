"""What a turn is handed of a batch is where it stood in the loop's target."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Maps(Dataset):
    def __init__(self, maps):
        self.maps = maps

    def __len__(self):
        return len(self.maps)

    def __getitem__(self, at):
        one = self.maps[at].astype(np.float64)
        return torch.from_numpy(one), torch.tensor(at)  # expect: PLM043


def turn(maps, kinds, net, opt):
    maps = maps.to("cuda").float()  # expect: PLM043
    # trap: of whole numbers
    kinds = kinds.to("cuda").float()
    loss = net(maps, kinds)
    loss.backward()
    opt.step()
    opt.zero_grad()


def mixed_turn(part, net, opt):
    # trap: now the one, now the other
    loss = net(part.to("cuda").float())
    loss.backward()
    opt.step()
    opt.zero_grad()


def train(net, opt, rows):
    for maps, kinds in DataLoader(Maps(rows), batch_size=8):
        turn(maps, kinds, net, opt)
    for maps, kinds in DataLoader(Maps(rows), batch_size=8):
        mixed_turn(maps, net, opt)
        mixed_turn(kinds, net, opt)
