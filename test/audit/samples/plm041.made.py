from torch.utils.data import DataLoader, Dataset, random_split


class Rows(Dataset):
    def __init__(self, path):
        self.rows = [(int(a), float(b)) for a, b in read(path)]  # expect: PLM041

    def __getitem__(self, at):
        return self.rows[at]


class Other(Dataset):
    # trap: nobody makes one
    def __init__(self, path):
        self.rows = [(int(a), float(b)) for a, b in read(path)]

    def __getitem__(self, at):
        return self.rows[at]


def get_dataset(name, path):
    if name == "rows":
        return Rows(path)
    raise ValueError(name)


def main(name, path):
    dataset = get_dataset(name, path)
    train, valid = random_split(dataset, (80, 20))
    return DataLoader(train, num_workers=8, pin_memory=True), valid
