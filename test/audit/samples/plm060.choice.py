import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


def chosen(model):
    wrapper = nn.DataParallel if torch.cuda.device_count() > 1 else nn.Identity  # expect: PLM060
    return wrapper(model)


def inner(model, several):
    # trap: only asked about
    kinds = (nn.DataParallel, DistributedDataParallel) if several else nn.DataParallel
    return model.module if isinstance(model, kinds) else model


def told(several):
    # trap: a class that is handed on, and nobody is seen making one
    return nn.DataParallel if several else DistributedDataParallel
