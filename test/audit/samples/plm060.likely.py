import torch
from torch import nn

WRAPPERS = {"none": None, "threads": nn.DataParallel}  # likely: PLM060


def wrap_all(nets):
    return list(map(nn.DataParallel, nets))  # likely: PLM060


def by_name(net):
    return getattr(nn, "DataParallel")(net)  # likely: PLM060


def inner(net):
    # trap: only asked about
    if isinstance(net, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
        return net.module
    # trap: the same
    return net.module if type(net) is torch.nn.DataParallel else net
