from torch.utils.data import DataLoader


def drawn(dataset, size):
    loader = DataLoader(dataset, batch_size=size, shuffle=True, num_workers=4)
    while True:
        yield next(iter(loader))  # expect: PLM076


def prepared(loader, steps, device):
    for _ in range(steps):
        images, labels = next(iter(loader))  # expect: PLM076
        yield images.to(device), labels.to(device)


def kept(loader):
    while True:
        batches = iter(loader)  # expect: PLM076
        yield next(batches)


def first(loader):
    while True:
        for batch in loader:  # expect: PLM076
            yield batch
            break


def endless(loader):
    # trap: begun once, before the turns
    example = next(iter(loader))
    while True:
        yield example
        # trap: an epoch
        yield from loader


def again(loader):
    batches = iter(loader)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            # trap: once an epoch
            batches = iter(loader)
            batch = next(batches)
        yield batch


def whole(loader):
    while True:
        # trap: gone through to its end
        batches = iter(loader)
        for batch in batches:
            yield batch


def shards(paths, load):
    for path in paths:
        loader = DataLoader(load(path), batch_size=8, num_workers=2)
        # trap: each turn has a loader of its own
        yield next(iter(loader))


class Stream:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, num_workers=2)

    def __iter__(self):
        return self

    def __next__(self):
        return next(iter(self.loader))  # expect: PLM076
