from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.__read__()

    def __read__(self):
        self.windows = []
        for begin in range(len(self.rows)):
            self.windows.append({"begin": begin, "end": begin + 8})  # expect: PLM041

    def __getitem__(self, at):
        return self.windows[at]


class Unread(Dataset):
    def __init__(self, rows):
        self.rows = rows

    # trap: nobody calls it
    def read(self):
        self.windows = []
        for begin in range(len(self.rows)):
            self.windows.append({"begin": begin})


CLASSES = {"windows": Windows, "unread": Unread}


def build(name, rows):
    cls = CLASSES[name]
    return DataLoader(cls(rows), num_workers=8, pin_memory=True)
