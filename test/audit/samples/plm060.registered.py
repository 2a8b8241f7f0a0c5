"""A class that is put into a table wraps nothing yet."""

from torch import nn
from torch.nn.parallel import DataParallel

from registry import Registry

WRAPPERS = Registry("wrapper")
# trap: known by a name
WRAPPERS.register_module(module=DataParallel)


def wrapped(net):
    return nn.DataParallel(net.cuda())  # expect: PLM060
