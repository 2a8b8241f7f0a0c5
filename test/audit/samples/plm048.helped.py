import torch
import torch.nn.functional as F
from torch import nn


class Compared(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature

    def near(self, left, right):
        return torch.mm(left, right.t())

    def mean(self, left, right):
        return (left - right).mean()

    def forward(self, a, b, labels):
        made = self.near(a, b)
        cooled = made / self.temperature  # expect: PLM048
        # trap: a number
        one = self.mean(a, b)
        less = one / self.temperature
        named = torch.bmm(a, b)
        inside = F.softmax(named * 0.5, dim=-1)  # expect: PLM048
        # trap: its name is given away
        moved = torch.bmm(a, b)
        moved = F.softmax(moved * 0.5, dim=-1)
        joined = torch.cat([a[:, :1], torch.mm(a, b)], dim=1)
        divided = joined / self.temperature  # expect: PLM048
        # trap: of two that are no products
        plain = torch.cat([a, b], dim=1)
        half = plain / self.temperature
        first, second = a @ b, b @ a
        small, other = (
            first / 8,  # expect: PLM048
            second / 8,  # expect: PLM048
        )
        # trap: each is given its own name again
        left, right = a @ b, b @ a
        left = left / 8
        right = right / 8
        pairs = a @ b.t()
        loss = F.cross_entropy(pairs / self.temperature, labels)  # expect: PLM048
        # trap: read again
        seen = a @ b.t()
        loss = loss + F.cross_entropy(seen / self.temperature, labels) + seen.mean()
        return cooled, less, inside, moved, divided, half, small, other, left, right, loss


class Masked(nn.Module):
    def forward(self, q, k, mask, bias):
        both = torch.matmul(q, k.transpose(-2, -1)) + bias
        scores = torch.matmul(q, k.transpose(-2, -1))
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        scaled = scores / 8.0  # expect: PLM048
        covered = torch.matmul(q, k.transpose(-2, -1))
        covered = covered + bias
        divided = covered / 8.0  # expect: PLM048
        shifted = q - bias
        softer = shifted / 8.0  # expect: PLM048
        softer = torch.where(mask, softer, -1e9)
        # trap: read for another thing than its softmax
        centred = q - bias
        sharper = centred / 8.0
        return both, torch.softmax(scaled, -1), divided, torch.softmax(softer, -1), sharper.sum()
