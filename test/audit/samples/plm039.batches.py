import torch
from torch.utils.data import IterableDataset


class Batches(IterableDataset):
    def __init__(self, data, batch_size, device="cuda"):
        self.data, self.batch_size, self.device, self.at = data, batch_size, torch.device("cuda"), 0

    def __next__(self):
        batch = self.data[self.at : self.at + self.batch_size]
        self.at += self.batch_size
        # trap: a whole batch, copied once
        return batch.to("cuda")


class Examples(torch.utils.data.Dataset):
    def __getitem__(self, at):
        return self.data[at].to("cuda")  # expect: PLM039
