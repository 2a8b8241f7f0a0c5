import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")


def loaders(data, options, collate):
    a = DataLoader(data, batch_size=8)  # expect: PLM038
    b = DataLoader(data, batch_size=8, num_workers=0)  # expect: PLM038
    c = DataLoader(data, batch_size=8, pin_memory=True)  # expect: PLM038
    # trap: may be in the options
    d = DataLoader(data, **options)
    # the collate function may put them on the device
    e = DataLoader(data, collate_fn=collate)  # likely: PLM038
    f = DataLoader(data, num_workers=4)  # expect: PLM038
    # trap: has both
    g = DataLoader(data, num_workers=4, pin_memory=True)
    h = DataLoader(data, num_workers=4, pin_memory=False)  # expect: PLM038
    print(g, h)
    return a, b, c, d, e, f


class Pad:
    def __call__(self, rows):
        return torch.nn.utils.rnn.pad_sequence(rows)


class Sent:
    def __call__(self, rows):
        return torch.nn.utils.rnn.pad_sequence(rows).to(device)


class Derived(Sent):
    def __call__(self, rows):
        return super().__call__(rows[::-1])


def collated(data, shuffled):
    given = dict(num_workers=4, collate_fn=Pad())
    if shuffled:
        given["shuffle"] = True
    pinned = dict(num_workers=4)
    pinned["pin_memory"] = True
    a = DataLoader(data, **given)  # expect: PLM038
    # trap: put there afterwards
    b = DataLoader(data, **pinned)
    # trap: on the device already
    c = DataLoader(data, num_workers=4, collate_fn=Sent())
    # trap: what it takes from another class is not seen
    d = DataLoader(data, num_workers=4, collate_fn=Derived())
    return a, b, c, d


class Rows(Dataset):
    def collate(self, rows):
        return torch.stack(rows)

    def collate_sent(self, rows):
        return torch.stack(rows).to(device)

    def collate_arrays(self, rows):
        return rows[0].__class__(rows)


def by_methods(path):
    rows = Rows(path)
    a = DataLoader(rows, num_workers=4, collate_fn=rows.collate)  # expect: PLM038
    # trap: on the device already
    b = DataLoader(rows, collate_fn=rows.collate_sent)
    # trap: nothing says that it is tensors that it puts together
    c = DataLoader(rows, num_workers=4, collate_fn=rows.collate_arrays)
    # a method of what nobody knows
    d = DataLoader(rows, num_workers=4, collate_fn=path.collate)  # likely: PLM038
    return a, b, c, d
