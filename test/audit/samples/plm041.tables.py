import numpy as np
from datasets import load_from_disk
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, path, records):
        rows = load_from_disk(path)
        self.rows = rows.to_list()  # expect: PLM041
        # trap: the table stays what it is
        self.table = rows
        self.numbers = list(range(1, int(records.header[0])))  # expect: PLM041
        # trap: an array
        self.places = np.arange(int(records.header[0]))
        # trap: few
        self.turns = list(range(4))

    def __getitem__(self, at):
        return self.rows[at], self.table[at], self.numbers[at], self.places[at], self.turns[at % 4]


def loader_of(path, records):
    return DataLoader(Pairs(path, records), batch_size=32, num_workers=8)
