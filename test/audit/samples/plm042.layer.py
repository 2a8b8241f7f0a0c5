import torch
from torch import nn


class Rows(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.rows = torch.zeros(longest, width)

    def forward(self, length):
        return self.rows[:length]


class Kept(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.register_buffer("rows", torch.zeros(longest, width))

    def forward(self, length):
        return self.rows[:length]


class Added(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.rows = torch.zeros(longest, width)

    def forward(self, x):
        if x.ndim == 2:
            return self.scale * x
        return self.rows[: x.size(1)]


class Network(nn.Module):
    def __init__(self, width, given=Rows(64, 512)):
        super().__init__()
        self.rows = Rows(width, 512)
        self.given = given
        self.kept = Kept(width, 512)
        self.added = Added(width, 512)
        self.chosen = Rows(width, 512)
        self.chosen = Kept(width, 512)

    def forward(self, x):
        x = x + self.rows(x.size(1)).to(x.device)  # expect: PLM042
        x = x + self.given(x.size(1)).unsqueeze(0).to(x.device)  # expect: PLM042
        # trap: a buffer is where the module is
        x = x + self.kept(x.size(1)).to(x.device)
        # trap: what it returns may have been computed there
        x = x + self.added(x).to(x.device)
        # trap: one of two
        return x + self.chosen(x.size(1)).to(x.device)
