from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, names):
        self.files = []
        for name in names:
            self.files.append((name, len(name)))  # expect: PLM041

    def __getitem__(self, at):
        return self.files[at]


class Alone(Dataset):
    # trap: its loader reads in the process itself
    def __init__(self, names):
        self.files = []
        for name in names:
            self.files.append((name, len(name)))

    def __getitem__(self, at):
        return self.files[at]


class Beside(Dataset):
    # trap: what is returned at another place of the tuple
    def __init__(self, names):
        self.files = []
        for name in names:
            self.files.append((name, len(name)))

    def __getitem__(self, at):
        return self.files[at]


class Sorts(Dataset):
    def __init__(self, names):
        # trap: no example, and no worker reads it
        self.sorts = [name.lower() for name in names]
        self.values = read(self.sorts)

    def __getitem__(self, at):
        return self.values[at]


def load(names):
    return Files(names), Beside(names)


def with_workers(dataset, batch_size):
    return DataLoader(dataset, batch_size=batch_size, num_workers=4, pin_memory=True)


def without(dataset, batch_size, workers=0):
    return DataLoader(dataset, batch_size=batch_size, num_workers=workers, pin_memory=True)


def main(names):
    files, beside = load(names)
    return with_workers(files, 32), with_workers(Sorts(names), 32), without(Alone(names), 32), len(beside)
