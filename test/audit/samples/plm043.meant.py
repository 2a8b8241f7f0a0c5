"""Who writes `float64` down wants it, for what is computed from there on."""

import numpy as np
import torch


def schedule(steps, device):
    t = np.arange(0, steps + 1, dtype=np.float64)
    t = t / steps
    t = torch.from_numpy(t) * 0.999 + 0.001  # expect: PLM043, by hand
    return t.to(device)


def counted(steps, device):
    t = np.linspace(0, 1, steps + 1)
    return torch.from_numpy(t).to(device)  # expect: PLM043


def train(model, loader, optimizer, device="cuda"):
    for images, ages in loader:
        # trap: cast before it is sent
        weights = torch.from_numpy(np.linspace(0, 1, 8)).float().to(device)
        # trap: of integers
        places = torch.from_numpy(np.arange(8)).to(device)
        # trap: stays on the host
        bounds = torch.from_numpy(np.linspace(0, 1, 8))
        times = schedule(10, device) + counted(10, device)
        loss = (model(images.to(device), times, weights, places) - ages.to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return bounds
