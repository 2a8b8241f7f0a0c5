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


def on_one_device(model):
    device_ids = [0]
    # trap: with one device it passes the call on
    return nn.DataParallel(model, device_ids=device_ids)


def on_as_many_as_there_are(model, config):
    if config.n_gpu == 1:
        # trap: the same
        return nn.DataParallel(model).cuda()
    return nn.DataParallel(model).cuda()  # expect: PLM060
