"""Numbers that are computed leave an array's type as it is; what a function is given decides what it hands back."""

import nibabel
import numpy as np
import soundfile
import torch


def centred(volume):
    low = np.min(volume)
    return (volume - low) / (np.max(volume) - low)


def opened(path):
    volume = nibabel.load(path).get_fdata()
    return np.reshape(volume, (1,) + volume.shape)


def narrow(path):
    return np.load(path).astype(np.float32)


class Guide:
    def __init__(self, sigma):
        self.sigma = sigma

    def curve(self, rows, columns):
        y = np.arange(rows).reshape(-1, 1) / rows
        x = np.arange(columns).reshape(1, -1) / columns
        return 1.0 - np.exp(-((y - x) ** 2) / (2 * self.sigma**2))

    def send(self, drift, device):
        return drift * torch.as_tensor(self.curve(8, 16), device=device)  # expect: PLM043


def chances(priorities, beta, device):
    shares = np.asarray(priorities, dtype=np.float64) / np.sum(priorities)
    weights = (len(shares) * shares) ** (-beta)
    weights /= weights.max()
    return torch.tensor(weights, device=device)  # expect: PLM043


def borders(side, device):
    rows, columns = np.mgrid[0:side, 0:side] / (side - 1)
    far = np.abs(rows - 0.5) + np.abs(columns - 0.5)
    return torch.from_numpy(far.reshape(1, -1)).to(device)  # expect: PLM043


def volumes(path, device):
    whole = torch.from_numpy(centred(opened(path))).to(device)  # expect: PLM043
    # trap: the same function, given another type
    small = torch.from_numpy(centred(narrow(path))).to(device)
    # trap: asked for as another type
    asked = torch.from_numpy(nibabel.load(path).get_fdata(dtype="float32")).to(device)
    return whole, small, asked


def sounds(path, device):
    wave, rate = soundfile.read(path)
    held = torch.from_numpy(wave).to(device)  # expect: PLM043
    short, _ = soundfile.read(path, dtype="float32")
    # trap: read as float32
    return held, torch.from_numpy(short).to(device), rate


def numbers(side, device):
    # trap: whole numbers, row by row
    rows, columns = np.mgrid[0:side, 0:side]
    return torch.from_numpy(rows).to(device), torch.from_numpy(columns).to(device)
