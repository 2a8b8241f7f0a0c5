import torch
from torch import nn


class Spread(nn.Module):
    def __init__(self, parts, width):
        super().__init__()
        self.parts = parts
        self.width = width
        self.cuda()

    @property
    def used(self):
        if not hasattr(self, "_used"):
            used = []
            for at, part in enumerate(self.parts):
                if part:
                    used.extend(range(at * self.width, (at + 1) * self.width))
            self._used = used
        return self._used

    @property
    def size(self):
        return self.width * 2

    def firsts(self):
        firsts = []
        for at in range(4):
            firsts.append(at)
        return firsts

    def widened(self, x):
        made = x.new_zeros(x.shape[0], self.width)
        made[:, self.used] = x  # expect: PLM070
        made = made + made[self.firsts()]  # expect: PLM070
        rows = []
        rows += [0, 2]
        made = made + made[rows]  # expect: PLM070
        # trap: one entry is a number
        made = made + made[rows[0]]
        # trap: a number
        return made[:, self.size]

    def forward(self, x):
        picked = []
        for row in x:
            picked.append(row.argmax())
        # trap: a list of tensors
        return self.widened(x[picked])
