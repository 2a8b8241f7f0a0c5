import torch
from torch import nn

WINDOWS = {}
BANKS = {}
SHARED = {}


def window(wave, size):
    if size not in WINDOWS:  # expect: PLM078
        WINDOWS[str(size) + "_" + str(wave.device)] = torch.hann_window(size).to(wave.device)
    return WINDOWS[str(size) + "_" + str(wave.device)]


def bank(wave, size):
    key = f"{size}_{wave.device}"
    # trap: the key it is asked by
    if key not in BANKS:
        BANKS[key] = torch.hann_window(size).to(wave.device)
    return BANKS[key]


def shared(wave, size, fill):
    # trap: somebody else may fill it
    if size not in SHARED:
        fill(SHARED)
        SHARED[(size, wave.device)] = torch.hann_window(size).to(wave.device)
    return SHARED[(size, wave.device)]


class Steps(nn.Module):
    def __init__(self, steps, width):
        super().__init__()
        self.steps = steps
        self.kept = {}
        self.proj = nn.Linear(width, width)

    def table(self, steps):
        return torch.arange(steps).float().sqrt()

    def cached(self, steps):
        if steps not in self.kept:
            self.kept[steps] = torch.arange(steps).float()
        return self.kept[steps]

    def forward(self, x):
        rows = self.table(self.steps).to(x.device)  # expect: PLM078
        # trap: kept by the method
        more = self.cached(self.steps)
        # trap: as long as the input
        own = self.table(x.shape[1])
        return self.proj(x) + rows[0] + more[0] + own[0]


def train(net, loader, optimizer, fill):
    for wave in loader:
        loss = net(window(wave, 512) * bank(wave, 512) * shared(wave, 512, fill)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
