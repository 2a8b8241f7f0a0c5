import torch
from litdata.streaming import StreamingDataLoader
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

device = torch.device("cuda")


class Background(DataLoader):
    def __iter__(self):
        yield from super().__iter__()


class Pinned(DataLoader):
    def __init__(self, data, **settings):
        super().__init__(data, pin_memory=True, **settings)


def loaders(data, workers):
    a = StreamingDataLoader(data, batch_size=8, num_workers=workers)  # expect: PLM038
    b = StatefulDataLoader(data, batch_size=8, num_workers=workers)  # expect: PLM038
    c = Background(data, batch_size=8, num_workers=4)  # expect: PLM038
    # trap: its constructor pins
    d = Pinned(data, num_workers=4)
    # trap: has both
    e = StreamingDataLoader(data, num_workers=4, pin_memory=True)
    return a, b, c, d, e
