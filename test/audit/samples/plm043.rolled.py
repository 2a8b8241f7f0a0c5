import numpy as np
import scipy.signal
import torch
from torch.utils.data import Dataset


def edges_of(corners, height, width):
    edges = np.zeros((2, width))
    edges[0] = np.interp(np.arange(width), corners[:, 0], corners[:, 1])
    return ((edges + 0.5) / height - 0.5) * np.pi


def narrow_edges(corners, width):
    return np.zeros((2, width), dtype=np.float32)


class Rooms(Dataset):
    def __init__(self, rooms, flips, rolls, names):
        self.rooms = rooms
        self.flips = flips
        self.rolls = rolls
        self.names = names

    def __len__(self):
        return len(self.rooms)

    def __getitem__(self, index):
        image, corners = self.rooms[index]
        edges = edges_of(corners, image.shape[0], image.shape[1])
        # trap: it was float32, and stays so when it is turned
        few = narrow_edges(corners, image.shape[1])
        if self.flips:
            edges = np.flip(edges, axis=1)
            few = np.flip(few, axis=1)
        if self.rolls:
            edges = np.roll(edges, 5, axis=1)
            few = np.roll(few, 5, axis=1)
        # trap: the one that is turned is not the one of float64
        other = narrow_edges(corners, image.shape[1])
        if self.rolls:
            other = np.roll(other, 3, axis=1)
        else:
            other = np.ones((2, 8))
        shown = torch.FloatTensor(image.copy())
        bounds = torch.from_numpy(edges.copy())  # expect: PLM043
        few = torch.from_numpy(few.copy())
        other = torch.from_numpy(other.copy())  # likely: PLM043
        parts = [shown, bounds, few, other]
        if self.names:
            parts.append(str(index))
        return parts


def discount(x, gamma):
    return scipy.signal.lfilter([1], [1, -gamma], x[::-1], axis=0)[::-1].copy()


def update_discounted(policy, rewards, gamma, optimizer, device):
    returns = torch.from_numpy(discount(np.asarray(rewards), gamma)).to(device)  # expect: PLM043
    # trap: cast before it is sent
    narrow = torch.from_numpy(discount(np.asarray(rewards), gamma)).float().to(device)
    loss = (policy.logp() * (returns - narrow)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
