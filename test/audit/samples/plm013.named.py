"""Tables by the name of something."""

import logging

import torch
from torch import nn

logger_initialized = {}
made = {}


def get_logger(name, log_file=None):
    logger = logging.getLogger(name)
    if name in logger_initialized:
        return logger
    # trap: a name
    logger_initialized[name] = True
    return logger


def embed(net, x):
    made[x] = net(x.cuda())  # expect: PLM013
    return made[x]


class Net(nn.Module):
    def forward(self, x):
        get_logger("net").info(x.shape)
        return torch.relu(x)
