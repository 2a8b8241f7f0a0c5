"""Helpers of what a loader is handed to collate with, by a function that makes it."""

import torch
from torch.utils.data import DataLoader


def laid_out(waves, device):
    return torch.stack(waves).float().to(device)  # expect: PLM039


def moved(waves, device):
    # trap: the training calls it too, and may be all that does so with a device
    return waves.to(device)


def shown(waves, device):
    # trap: not of a loader
    return waves.to(device)


def loader_of(rows, joined, size):
    return DataLoader(rows, batch_size=size, collate_fn=joined, num_workers=4)


def train(net, opt, rows, others):
    device = torch.device("cuda")

    def side_by_side(rows):
        return laid_out([row["wave"] for row in rows], device)

    def on_top(rows):
        return moved(torch.stack([row["wave"] for row in rows]), "cpu")

    def for_show(rows):
        return shown(torch.stack([row["wave"] for row in rows]), device)

    for waves in loader_of(rows, side_by_side, 8):
        loss = net(waves).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
    for waves in loader_of(others, on_top, 8):
        loss = net(moved(waves, device)).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
    print(net(for_show(others)))
