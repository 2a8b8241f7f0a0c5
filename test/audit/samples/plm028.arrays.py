import numpy as np
import torch
from torch import nn


def spread(values, bound):
    # trap: an array has these as well
    return values.nonzero(), values.unique(), values[values > bound]


class Near(nn.Module):
    def forward(self, given, wanted):
        near = (given == wanted).nonzero(as_tuple=True)[0]  # expect: PLM028
        rows = wanted.nonzero().squeeze(1)  # expect: PLM028
        return near.float().sum() + rows.float().mean() + np.mean(spread(np.ones(3), 0.5)[2])


net = Near().to(torch.device("cuda"))
