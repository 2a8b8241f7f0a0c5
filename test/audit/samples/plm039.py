import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        # trap: once, all of it
        self.rows = rows.cuda()

    def __getitem__(self, at):
        return self.rows[at].cuda()  # expect: PLM039


class Model:
    def __getitem__(self, at):
        # trap: no dataset
        return self.parts[at].cuda()


def collate(rows):
    return torch.stack(rows).to("cuda")  # expect: PLM039


def step(batch):
    # trap: the step is the place
    return batch.to("cuda")


loader = DataLoader(Rows(torch.zeros(4)), collate_fn=collate)
