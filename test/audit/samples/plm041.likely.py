import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

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


class MixtureSet:
    def __init__(self, datasets: list[Dataset], names, questions, image_files, first_rows):
        # trap: a dataset each, of which there are a few
        self.parts = datasets
        # trap: names and paths, a few bytes each
        self.image_files = [str(one) for one in image_files]
        self.texts = [one.lower() for one in names]
        # trap: joined below, it is a tensor
        self.rows = first_rows
        # trap: what is opened for each of a few names
        self.cameras = {name: self.opened(name) for name in names}
        # trap: names one by one, however they were read
        self.label_files = []
        for line in open("index.csv"):
            image, label = line.split(",")
            self.label_files.append(label)
        self.questions = questions  # likely: PLM041

    def reorder(self, order):
        # trap: the same objects in another order
        self.texts = [self.texts[at] for at in order]

    def more(self, rows):
        self.rows = torch.cat([self.rows, rows])

    def __getitem__(self, at):
        camera = self.cameras[self.texts[at]]
        return self.parts[at], self.image_files[at], self.label_files[at], self.rows[at], self.questions[at], camera


class ToldSet:
    def __init__(self, rows):
        self.told = []
        for row in rows:
            self.told.append({"text": row.text, "label": row.label})  # likely: PLM041

    def __getitem__(self, at):
        return self.told[at]
