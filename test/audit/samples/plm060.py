import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class DataParallel:
    pass


def wrap(model):
    a = nn.DataParallel(model)  # expect: PLM060
    # trap: a process a device
    b = DistributedDataParallel(model)
    # trap: only asked about
    c = isinstance(model, nn.DataParallel)
    # trap: another class of that name
    d = DataParallel()
    return a, b, c, d
