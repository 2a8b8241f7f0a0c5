import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Memory:
    def __init__(self, size, width):
        self.size = size
        self.states = np.zeros((size, width), dtype=np.float32)
        self.gains = np.zeros(size)

    def pick(self, rows):
        return dict(states=self.states[rows], gains=self.gains[rows])

    def sample(self, count):
        return self.pick(np.random.randint(self.size, size=count))


def sent(batch, device):
    return {key: torch.from_numpy(rows).to(device) for key, rows in batch.items()}  # expect: PLM043


def narrowed(batch, device):
    # trap: cast on the way
    return {key: torch.from_numpy(rows).float().to(device) for key, rows in batch.items()}


def train(net, optimizer, device):
    memory = Memory(1000, 4)
    for _ in range(1000):
        batch = memory.pick(np.random.randint(1000, size=32))
        states = torch.from_numpy(batch["states"]).to(device)
        gains = torch.from_numpy(batch["gains"]).to(device)  # expect: PLM043
        loss = (net(states)[:, 0] * gains).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Texts(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        kept = np.array(self.rows[index]["kept"]).astype(float)
        weights = np.asarray(self.rows[index]["weights"], float).reshape(-1, 1)
        # trap: whole numbers, as they should be
        ids = np.array(self.rows[index]["ids"]).astype(int)
        # trap: of half the bytes
        scores = np.array(self.rows[index]["scores"]).astype("float32")
        return ids, scores, torch.from_numpy(kept), weights  # expect: PLM043


def read(rows):
    return DataLoader(Texts(rows), batch_size=8, num_workers=4)


def weighed(chances, lengths, frames, count, device):
    rows = np.random.choice(len(chances), size=count)
    weights = 1 / (len(chances) * chances[rows])
    heights = torch.from_numpy(weights).to(device).float()  # expect: PLM043
    # trap: pixels are a byte each until they are cast
    pictures = torch.from_numpy(frames[rows]).to(device).float() / 255
    # trap: cast before
    shown = torch.from_numpy(np.log(lengths + 1)).float().to(device)
    return heights, pictures, shown
