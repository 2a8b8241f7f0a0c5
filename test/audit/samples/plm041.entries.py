from torch.utils.data import DataLoader, Dataset


class Entries(Dataset):
    def __init__(self, names, root, kinds):
        self.length = len(names)
        self.places = dict((name, f"{root}/{name}.png") for name in names)  # expect: PLM041
        # trap: one for each kind
        self.class_to_id = dict(zip(kinds, range(len(kinds))))
        # trap: settings
        self.settings = dict(root=root, kinds=kinds)

    def __len__(self):
        return self.length

    def __getitem__(self, at):
        return self.places[at], self.class_to_id, self.settings


def load(names, root, kinds):
    return DataLoader(Entries(names, root, kinds), batch_size=8, num_workers=4)
