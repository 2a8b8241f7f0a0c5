"""A state that nobody reads back is not carried on."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer, self.head = nn.Linear(width, width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.layer(x).relu()
        self.last_hidden_state = x  # expect: PLM004
        # trap: part of a loss that another file adds up
        self.balance = x.softmax(-1).mean(0)
        return self.head(x)


class Walker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(width, width)
        self.hidden_state = None

    def forward(self, x):
        before = self.hidden_state if self.hidden_state is not None else torch.zeros_like(x)
        # trap: the next call goes on from it
        self.hidden_state = self.cell(x, before)
        return self.hidden_state
