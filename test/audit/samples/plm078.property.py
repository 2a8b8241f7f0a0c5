from functools import cached_property

import torch
import torch.nn as nn


class Table(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.longest = longest
        self.proj = nn.Linear(width, width)
        # trap: read when it is made
        self.register_buffer("begun", self.once, persistent=False)

    @property
    def ramp(self):
        return torch.linspace(0, 1, self.longest)  # expect: PLM078

    @property
    def once(self):
        return torch.linspace(0, 1, self.longest)

    @cached_property
    def kept(self):
        # trap: built once
        return torch.linspace(0, 1, self.longest)

    def forward(self, x):
        return self.proj(x * self.ramp.to(x.device)) + self.kept.to(x.device) + self.begun
