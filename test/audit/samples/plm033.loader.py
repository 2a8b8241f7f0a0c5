"""Constants of a loader that wraps another one."""

import torch
from torch.utils.data import IterableDataset


class OnDevice:
    def __init__(self, loader, mean, std, device="cuda"):
        self.loader, self.device = loader, device
        self.mean = [x * 255 for x in mean]
        self.std = tuple(std)
        # trap: once
        self.scale = torch.tensor(self.std, device=device)

    def __iter__(self):
        # trap: once in an epoch
        shift = torch.tensor(self.mean, device=self.device)
        for images, labels in self.loader:
            images = images.to(self.device, non_blocking=True).float()
            mean = torch.tensor(self.mean, device=self.device).view(1, 3, 1, 1)  # expect: PLM033
            std = torch.tensor(self.std).view(1, 3, 1, 1).to(self.device)  # expect: PLM033
            # trap: of this batch
            lengths = torch.tensor([len(one) for one in labels], device=self.device)
            # trap: on the host
            most = torch.tensor(self.std)
            yield (images - mean) / std * shift / self.scale, lengths, most


class Ahead:
    def __init__(self, loader, device):
        self.loader, self.device = iter(loader), device

    def draw(self):
        images, labels = next(self.loader)
        mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1).to(self.device)  # expect: PLM033
        self.batch = images.to(self.device) - mean, labels.to(self.device)


class Pictures(IterableDataset):
    def __init__(self, loader, mean, device):
        self.loader, self.mean, self.device = loader, mean, device

    def __iter__(self):
        for image in self.loader:
            # trap: made by a worker, of one picture
            yield image - torch.tensor(self.mean, device=self.device)


def shown(loader, device):
    for images, _ in loader:
        # trap: nothing is handed on
        print((images.to(device) - torch.tensor([0.5, 0.5, 0.5], device=device)).mean())


def normalized(net, loader_iterator, count, device):
    seen = []
    for _ in range(count):
        seen.append(net(next(loader_iterator).to(device)))
    # trap: once, after several
    return torch.cat(seen) - torch.tensor([0.5, 0.5, 0.5], device=device)


def tried(net, loader, device):
    images, _ = next(iter(loader))
    # trap: of the one batch that is tried
    return net(images.to(device) - torch.tensor([0.5], device=device))
