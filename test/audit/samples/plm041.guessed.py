import numpy as np
from torch.utils.data import DataLoader

from texts import collected


class Windows:
    def __init__(self, text, length):
        self.windows = [text[at : at + length] for at in range(len(text) - length)]  # likely: PLM041
        # trap: one array
        self.starts = np.array([at for at in range(len(text))])
        # trap: a few kinds
        self.kinds = [kind.lower() for kind in ("Train", "Test")]
        # trap: no worker asks for one of them
        self.lines = text.splitlines()

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, at):
        return self.windows[at], self.starts[at], self.kinds[at % 2]


def loader_of(rows, config):
    return DataLoader(collected(rows), batch_size=8, num_workers=config.workers, pin_memory=True)
