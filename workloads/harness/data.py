"""Sequences made on the spot: each counts up by a step of its own, so there is something to learn."""
import torch


class Counting(torch.utils.data.Dataset):
    def __init__(self, vocabulary, length, size=4096, seed=0):
        self.vocabulary, self.length, self.size, self.seed = vocabulary, length, size, seed

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index >= self.size:
            raise IndexError(index)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + index)
        start = torch.randint(0, self.vocabulary, (1,), generator=generator)
        step = torch.randint(1, 8, (1,), generator=generator)
        return {"input_ids": (start + step * torch.arange(self.length)) % self.vocabulary}
