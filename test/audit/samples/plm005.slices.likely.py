"""Data gone through in slices, by functions that are not seen here."""

import torch
from torch import nn
from torch.nn import functional as F

from rendering import render, spectrum_error


def train(rays, colours, optimizer, settings, size):
    for _ in range(1000):
        optimizer.zero_grad()
        loss = 0.0
        for at in range(0, len(rays), size):
            rgb, depth = render(rays=rays[at : at + size], **settings)
            loss += F.mse_loss(rgb, colours[at : at + size])  # likely: PLM005
        loss.backward()
        optimizer.step()


def train_each(rays, colours, optimizer, settings, size):
    for _ in range(1000):
        optimizer.zero_grad()
        for at in range(0, len(rays), size):
            rgb, depth = render(rays=rays[at : at + size], **settings)
            # trap: differentiated in each turn
            F.mse_loss(rgb, colours[at : at + size]).backward()
        optimizer.step()


def train_whole(rays, colours, optimizer, settings, size):
    head = nn.Linear(3, 3).cuda()
    for _ in range(1000):
        optimizer.zero_grad()
        rgb = head(rays)
        loss = 0.0
        for at in range(0, len(rays), size):
            # trap: parts of what one run gave
            loss += spectrum_error(rgb[at : at + size], colours[at : at + size])
        loss.backward()
        optimizer.step()
