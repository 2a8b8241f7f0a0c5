import numpy as np
import torch
from torch import nn


def keep_mask(shape):
    keep = np.ones(shape)
    keep[..., :4] = 0.0
    return torch.from_numpy(keep)


def narrow_mask(shape):
    keep = np.ones(shape)
    keep[..., :4] = 0.0
    return torch.from_numpy(keep).float()


def noise_and_level(shape, level):
    noise = np.random.normal(0.0, level, shape)
    return torch.from_numpy(noise).unsqueeze(0), torch.tensor(level)


def array_mask(shape):
    return np.ones(shape)


class Cells(nn.Module):
    def centres(self, h, w, stride):
        xs, ys = np.meshgrid(np.arange(w), np.arange(h))
        cells = np.stack([xs, ys], axis=-1).reshape(-1, 2) + 0.5
        cells *= stride
        return torch.from_numpy(cells).to(self.device)  # expect: PLM043

    def corners(self, h, w):
        ys, xs = np.mgrid[0:h, 0:w]
        cells = np.stack([xs.ravel(), ys.ravel()], axis=1)
        # trap: whole numbers
        whole = torch.from_numpy(cells).to(self.device)
        return whole, torch.from_numpy(cells / w).to(self.device)  # expect: PLM043

    def shares(self, h, w):
        cells = np.indices((h, w)).reshape(2, -1).T * 0.5
        # trap: made float32 on the way
        narrow = torch.from_numpy(cells.astype(np.float32)).to(self.device)
        return narrow, torch.from_numpy(cells).to(self.device)  # expect: PLM043


def train(model, loader, optimizer, device):
    for x in loader:
        x = x.to(device)
        x = x * keep_mask(x.shape).to(device)  # expect: PLM043
        noise, level = noise_and_level(x.shape, 0.1)
        x = x + noise.cuda()  # expect: PLM043
        # trap: a Python number makes float32
        x = x * level.cuda()
        # trap: cast before it is handed out, or before it is sent
        x = x * narrow_mask(x.shape).to(device)
        x = x * keep_mask(x.shape).float().to(device)
        x = x * keep_mask(x.shape).to(device, torch.float32)
        # trap: the array is cast where the tensor is made
        x = x * torch.as_tensor(array_mask(x.shape), dtype=torch.float32).to(device)
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
