import torch
from torch import nn


class Contrast(nn.Module):
    def __init__(self, size, heat=0.1):
        super().__init__()
        self.heat = heat
        self.others = None
        self.rows = None
        self.level = torch.zeros(size)
        self.register_buffer("upper", torch.ones(size, size, dtype=torch.bool).triu(1))

    def forward(self, left, right):
        left, right = left.cuda(), right.cuda()
        count = left.shape[0]
        if self.others is None:
            self.others = ~torch.eye(count, device=left.device).bool()
            self.rows = torch.arange(count, device=left.device)
        scores = left @ right.t() / self.heat
        negatives = scores[self.others].view(count, -1)  # expect: PLM028
        pairs = scores[self.upper]  # expect: PLM028
        apart = scores[~torch.eye(count, dtype=torch.bool, device=left.device)]  # expect: PLM028
        # trap: rows by their numbers
        ordered = scores[self.rows]
        # trap: a plain number is filled in, which waits for nothing
        scores[self.upper] = 0.0
        return negatives.mean() + pairs.mean() + apart.mean() + ordered.mean() + scores.mean()


def fit(left, right, measure: Contrast, loader, optimizer):
    for first, second in loader:
        loss = measure(left(first.cuda()), right(second.cuda()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
