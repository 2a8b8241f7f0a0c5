"""Tables of schedules and windows, in what is no module."""

import torch

STEPS = 1000


def betas_of(steps):
    return torch.linspace(1e-4, 0.02, steps)


def written():
    return torch.linspace(1e-4, 0.02, STEPS)


class Schedule:
    def __init__(self, steps=1000):
        self.steps = steps
        # trap: once
        self.betas = betas_of(self.steps)

    def kept(self, at):
        return torch.cumprod(1 - betas_of(self.steps), dim=0)[at]  # expect: PLM078

    def drawn(self, count):
        # trap: as many as there are in the batch
        return torch.linspace(0, 1, count)


def noised(images, at):
    return images * torch.cumprod(1 - written(), dim=0).to(images.device)[at]  # expect: PLM078


def loudness(wave, size=1024):
    window = torch.hann_window(size, device=wave.device)  # expect: PLM078
    return torch.stft(wave, size, window=window, return_complex=True).abs()


def train(model, loader, optimizer, device):
    schedule = Schedule()
    for images, at in loader:
        images, at = images.to(device), at.to(device)
        # trap: it counts the batch
        places = torch.arange(len(images), device=device)
        out = model(noised(images, at) * schedule.kept(at) + schedule.drawn(len(images)), places)
        loss = (loudness(out) - loudness(images)).abs().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
