import torch
from torch import nn


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.GRU(64, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, x, lengths):
        out, _ = self.recurrent(x.cuda())
        # trap: two rows, as views
        at = tuple(torch.stack((lengths.cuda() - 1, torch.arange(x.size(1), device=out.device))))
        return self.head(out[at])
