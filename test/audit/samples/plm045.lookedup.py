import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(512, 64)
        self.kinds = nn.Embedding(4, 64)
        self.head = nn.Linear(64, 2)

    def forward(self, h):
        length, batch, _ = h.shape
        steps = torch.arange(length, device=h.device).unsqueeze(-1)
        h = h + self.places(steps).repeat(1, batch, 1)  # expect: PLM045
        first = torch.zeros(batch, device=h.device, dtype=torch.long)[None]
        h = h + self.kinds(first).repeat(length, 1, 1)  # expect: PLM045
        return self.head(h)


class Tiler(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(512, 64)
        self.head = nn.Linear(64, 2)

    def forward(self, h):
        rows = h.shape[0] // 16
        steps = torch.arange(16, device=h.device)
        # trap: two dimensions, and the table is laid one after another
        h = h + self.places(steps).repeat(rows, 1)
        late = torch.arange(16, device=h.device).unsqueeze(0)
        # trap: the dimension of one is not the one that is repeated
        wide = self.places(late).repeat(1, rows, 1)
        return self.head(h + wide.flatten(0, 1))
