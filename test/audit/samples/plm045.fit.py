import torch
from torch import nn

from shapes import with_dims


class Noised(nn.Module):
    def __init__(self, inner, classes, width, longest):
        super().__init__()
        self.inner = inner
        self.classes = nn.Embedding(classes, width)
        self.sizes = nn.Embedding(classes, width)
        self.rows = torch.zeros(longest)
        self.register_buffer("later", torch.triu(torch.ones(longest, longest), diagonal=1).bool())

    def forward(self, clean, noise, level, gate):
        seen = clean + noise * with_dims(level, clean.ndim).repeat(1, *clean.shape[1:])  # expect: PLM045
        wide = gate.repeat(1, 1, seen.shape[2], seen.size(-1))  # expect: PLM045
        seen = self.inner(seen * wide)
        # trap: twice as long as it was, whatever that is
        twice = gate.repeat(1, 2) * noise
        # trap: as often as another one is long, at another place
        other = gate.repeat(1, clean.shape[2]) + clean
        # trap: it meets nothing that is as long
        alone = level.repeat(1, *clean.shape[1:])
        return seen, twice, other, self.inner(alone), self.compare(noise)

    def compare(self, x):
        n = x.shape[1]
        later = self.later[:n, :n].repeat(x.shape[0], 1, 1)  # expect: PLM045
        rows = self.classes.weight.repeat(x.size(0), x.size(1), 1, 1)  # expect: PLM045
        # trap: its own rows are repeated, one after the other
        many = self.classes.weight.repeat(x.size(0), 1)
        # trap: each copy is written into
        own = self.sizes.weight.repeat(x.size(0), 1, 1)
        own[:, 0] = x[:, 0]
        # trap: one row of the mask has a dimension less
        row = self.later[0].repeat(x.shape[0], 2, 1)
        return later, rows, many, own, row
