import torch
import torch.nn as nn


class Begun(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)
        self.hidden = None

    def init_hidden(self, n):
        return torch.zeros(1, n, 8)

    def forward(self, x):
        # trap: begun anew by who calls it, before each step (a note)
        out, self.hidden = self.rnn(x, self.hidden)  # expect: PLM006
        return out
