import torch
from torch import nn
from torch.nn import functional as F


class Queued(nn.Module):
    def __init__(self, body, width, size):
        super().__init__()
        self.body = body
        self.queue = torch.randn(width, size).cuda()
        self.shown = torch.zeros(size, width).cuda()
        self.at = 0

    def forward(self, x):
        keys = F.normalize(self.body(x), dim=1)
        scores = keys @ self.queue.clone().detach()
        many = keys.shape[0]
        self.queue[:, self.at : self.at + many] = keys.T  # expect: PLM018
        # trap: cut off
        self.shown[self.at : self.at + many] = keys.detach()
        self.at = (self.at + many) % self.queue.shape[1]
        return scores


class Unrecorded(nn.Module):
    def __init__(self, body, width, size):
        super().__init__()
        self.body = body
        self.queue = torch.randn(width, size).cuda()

    def forward(self, x):
        with torch.no_grad():
            keys = self.body(x)
            # trap: nothing is recorded
            self.queue[:, : keys.shape[0]] = keys.T
        return self.body(x) @ self.queue


class Begun(nn.Module):
    def __init__(self, body, width, size):
        super().__init__()
        self.body = body
        self.rows = torch.zeros(size, width)

    def forward(self, x):
        self.rows = torch.zeros(x.shape[0], x.shape[1], device=x.device)
        # trap: begun anew by each forward
        self.rows[:, :] = self.body(x)
        return self.rows.sum()
