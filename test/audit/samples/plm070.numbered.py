"""Rows by number, as a loader or an array hands them out."""

import numpy as np
import torch
from torch.utils.data import DataLoader


def train(net, edges, optimizer, device="cuda"):
    edges = edges.to(device)
    for rows in DataLoader(range(edges.size(0)), 1024, shuffle=True):
        loss = net(edges[rows]).mean()  # expect: PLM070
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for step, rows in enumerate(DataLoader(torch.arange(edges.size(0)), batch_size=64)):
        # trap: the number of the turn
        print(edges[step].shape)
        loss = net(edges[rows]).mean()  # expect: PLM070
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def mine(net, loader, optimizer, device="cuda"):
    for x, y in loader:
        out = net(x.to(device, non_blocking=True))
        kept = (out > 0).view(-1).cpu().numpy().nonzero()[0]
        loss = out.view(-1)[kept].mean()  # expect: PLM070
        first = np.unique(y)[0]
        # trap: one number
        loss = loss + out[first].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def collated(net, rows, optimizer, put, device="cuda"):
    rows = rows.to(device)
    # trap: what puts the numbers together may send them
    for some in DataLoader(range(len(rows)), 64, collate_fn=put):
        loss = net(rows[some]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
