from torch.utils.data import DataLoader, Dataset


def lines_of(path):
    found = {}
    for line in open(path):
        name, text = line.split("|")
        found[name] = text.split()
    return found


def counts_of(path):
    found = {}
    for at, line in enumerate(open(path)):
        found[at] = len(line)
    return found


class Entries(Dataset):
    def __init__(self, names, root, kinds):
        self.length = len(names)
        self.places = dict((name, f"{root}/{name}.png") for name in names)  # expect: PLM041
        self.lines = lines_of(root)  # expect: PLM041
        # trap: a few numbers
        self.counts = counts_of(root)
        # trap: one for each kind
        self.class_to_id = dict(zip(kinds, range(len(kinds))))
        # trap: settings
        self.settings = dict(root=root, kinds=kinds)

    def __len__(self):
        return self.length

    def __getitem__(self, at):
        return self.places[at], self.lines[at], self.counts[at], self.class_to_id, self.settings


def load(names, root, kinds):
    return DataLoader(Entries(names, root, kinds), batch_size=8, num_workers=4)
