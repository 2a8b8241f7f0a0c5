from functools import cache, lru_cache

import numpy as np
import torch
from torch.autograd import Variable


class Clips:
    def __init__(self, net, folder):
        self.net = net.cuda()
        self.folder = folder

    def wrap(self, x):
        if torch.cuda.is_available():
            x = x.cuda()
        return Variable(x)

    def shape(self, x):
        return x.unsqueeze(0)

    @lru_cache(maxsize=None)  # expect: PLM013
    def clip(self, name):
        return self.wrap(torch.from_numpy(np.load(self.folder + name)))

    @lru_cache(maxsize=None)  # expect: PLM013
    def shown(self, name):
        read = torch.from_numpy(np.load(self.folder + name))
        if torch.cuda.is_available():
            read = read.cuda()
        return read

    # On the host, the last few alone, or one for all: none of them fills the device.
    @lru_cache(maxsize=None)
    def kept(self, name):
        return self.shape(torch.from_numpy(np.load(self.folder + name)))

    @lru_cache(maxsize=8)
    def last(self, name):
        return self.wrap(torch.from_numpy(np.load(self.folder + name)))

    @cache
    def first(self):
        return self.wrap(torch.zeros(16000))
