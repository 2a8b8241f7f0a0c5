from torch.utils.data import DataLoader


def endless(dataset, size):
    while True:
        loader = DataLoader(dataset, batch_size=size)  # expect: PLM076
        yield from loader


def once(dataset, size):
    loader = DataLoader(dataset, batch_size=size)  # trap: made once
    while True:
        yield from loader


def shards(paths, size, load):
    while True:
        for path in paths:
            data = load(path)
            # trap: each shard has its own data
            loader = DataLoader(data, batch_size=size)
            yield from loader


def sized(dataset, sizes):
    for size in sizes:
        # trap: another size each time
        yield from DataLoader(dataset, batch_size=size)


class Streams:
    def __init__(self, paths):
        self.paths = paths

    def batches(self, load):
        while True:
            self.data = load(self.paths)
            # trap: read anew
            loader = DataLoader(self.data)
            yield from loader
