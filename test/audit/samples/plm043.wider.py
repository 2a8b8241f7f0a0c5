"""Of two arrays the wider type wins."""

import numpy as np
import torch


def made(frames, n_points, chosen, tree, device):
    held = frames.cpu().numpy()
    moved = torch.from_numpy(held + np.random.normal(0, 0.1, size=held.shape)).to(device)  # expect: PLM043
    points = torch.from_numpy(np.zeros((n_points, 3))).to(device)  # expect: PLM043
    weights = torch.from_numpy(np.array([tree[at] for at in chosen]) / tree.total).to(device)  # expect: PLM043
    drawn = torch.tensor([np.random.rand() for _ in chosen], device=device)  # expect: PLM043
    faded = (frames.cpu() * torch.from_numpy(np.hanning(n_points))).to(device)  # expect: PLM043
    # trap: a number leaves an array's type as it is
    scaled = torch.from_numpy(held * np.random.rand()).to(device)
    # trap: says another type
    counts = torch.from_numpy(np.zeros(n_points, int)).to(device)
    flags = torch.from_numpy(np.zeros(n_points, bool)).to(device)
    # trap: narrowed again
    small = torch.from_numpy((held + np.random.normal(0, 0.1, size=held.shape)).astype("float32")).to(device)
    # trap: Python's numbers become float32
    plain = torch.tensor([tree[at] / tree.total for at in chosen], device=device)
    return moved, points, weights, drawn, faded, scaled, counts, flags, small, plain
