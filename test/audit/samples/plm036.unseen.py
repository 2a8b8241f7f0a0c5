import torch
import torch.nn as nn


class Gated(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.mixers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.gains = [nn.Parameter(torch.ones(width)) for _ in range(depth)]
        self.tilts = []
        for _ in range(depth):
            self.tilts.append(nn.Parameter(torch.zeros(width)))
        self.bases = {}
        self.bases["low"] = nn.Parameter(torch.zeros(width))
        # Nothing of it is learnt, or it is there from the beginning, or the module sees it.
        self.sizes = [width for _ in range(depth)]
        self.placed = [nn.Parameter(torch.ones(width, device="cuda")) for _ in range(depth)]
        self.shown = [nn.Parameter(torch.ones(width)) for _ in range(depth)]
        self.listed = nn.ParameterList(self.shown)

    def forward(self, x):
        for at, (mixer, size) in enumerate(zip(self.mixers, self.sizes)):
            gain = self.gains[at].to(x.device)  # expect: PLM036
            x = mixer(x) * gain / size
        for mixer, tilt in zip(self.mixers, self.tilts):
            x = mixer(x) + tilt.to(x.device)  # expect: PLM036
        for mixer, rows in zip(self.mixers, x.split(1)):
            x = x + mixer(rows.to(x.device))
        x = x * self.placed[0].to(x.device) * self.shown[0].to(x.device)
        return x + self.bases["low"].to(x.device)  # expect: PLM036
