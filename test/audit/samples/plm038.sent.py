import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index].cuda()


class More(Rows):
    def scaled(self, index):
        return self[index] / 2


class Plain(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index].to(torch.long)


class Held:
    """What a tokenizer hands out: it goes to a device where it is told to."""

    def __init__(self, fields):
        self.fields = fields

    def __getitem__(self, name):
        return self.fields[name]

    def to(self, device):
        return Held({name: field.to(device) for name, field in self.fields.items()})


def loaders(rows, other, kept):
    data = Rows(rows)
    # trap: on the device already: to pin it raises
    a = DataLoader(data, batch_size=8, drop_last=True)
    # trap: as its base does
    b = DataLoader(More(rows), batch_size=8)
    # Its own examples stay on the host, yet the file has others.
    c = DataLoader(Plain(rows), batch_size=8)  # expect: PLM038, by hand
    # Nobody says which of them it is.
    d = DataLoader(other, batch_size=8)  # expect: PLM038, by hand
    either = Rows(rows) if kept else Plain(rows)
    e = DataLoader(either, batch_size=8)  # expect: PLM038, by hand
    return a, b, c, d, e
