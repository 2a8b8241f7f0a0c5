import numpy as np
import torch
from torch import nn

SIDES = [[0, 2], [1, 3]]
NAMES = {"arm": "left", "leg": "right"}
FIRST = {"arm": 0, "leg": 2}


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = {"arm": [0, 1], "leg": [2, 3]}
        self.shown = [0, 4]

    def forward(self, given, wanted):
        total = 0
        for side in SIDES:
            total = total + nn.functional.l1_loss(given[:, side], wanted[:, 1:3])  # expect: PLM070
        arm = nn.functional.l1_loss(given[:, self.parts["arm"]], wanted[:, :2])  # expect: PLM070
        sure = given.softmax(-1)[..., self.shown].mean()  # expect: PLM070
        # trap: a number picks without a copy
        one = given[:, FIRST["arm"]].mean()
        return total + arm + sure + one


class Table(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        self.shown = [0, 4]

    def forward(self, texts):
        # trap: nothing says that these are tensors
        return [texts[name] for name in NAMES], self.rows[self.shown]


class Boxes(nn.Module):
    def fits(self, sizes):
        # trap: drawn on the host, by the forward that calls this
        return sizes.abs().unsqueeze(0) if sizes.shape[1] < 3 else self.fits(sizes[:, [0, 1]])

    def forward(self, many):
        sizes = torch.rand(many, 3)
        return self.fits(sizes)


net = Parts().to(torch.device("cuda"))
