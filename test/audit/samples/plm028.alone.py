import torch
from torch import nn


class Far(nn.Module):
    def forward(self, given, wanted):
        far = given[given > wanted.abs()]  # expect: PLM028
        rows = wanted.nonzero()  # expect: PLM028
        return far.sum() + rows.float().mean()


def parts(given):
    # trap: a plain number picks one
    return given[3], given[-1]


net = Far().to(torch.device("cuda"))
