from multiprocessing import Pool

import torch
from torch.utils.data import Dataset

from parsing import draw, parse


class Phrases(Dataset):
    def __init__(self, parsed):
        self.parsed = parsed

    def __getitem__(self, at):
        one = self.parsed[at]
        return torch.tensor(one.words), torch.tensor(one.kinds)


class Pictures(Dataset):
    def __init__(self, drawn):
        self.drawn = drawn

    def __getitem__(self, at):
        # trap: blocks of numbers have a shape too
        one = self.drawn[at]
        return torch.from_numpy(one), one.shape


class Scenes(Dataset):
    def __init__(self, scenes):
        self.scenes = scenes

    def __getitem__(self, at):
        # trap: a data set of its own hands these out
        one = self.scenes[at]
        return torch.tensor(one.words), torch.tensor(one.kinds)


def load_all(lines, scenes):
    with Pool(8) as workers:
        parsed = list(workers.imap(parse, lines))
        drawn = workers.map(draw, lines)
    return (
        Phrases(parsed),  # expect: PLM041
        Pictures(drawn),
        Scenes(scenes.map(parse, 4)),
    )
