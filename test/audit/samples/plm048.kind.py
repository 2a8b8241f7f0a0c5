import torch
import torch.nn.functional as F
from torch import nn


class Reading(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)

    def forward(self, x):
        q, k = self.query(x.cuda()), self.key(x.cuda())
        plain = torch.matmul(q, k.transpose(-1, -2))
        scaled = plain / 8.0  # expect: PLM048
        weights = F.softmax(scaled.float(), dim=-1).type_as(plain)
        raw = torch.matmul(q, k.transpose(-1, -2))
        lowered = raw * 0.125  # expect: PLM048
        kept = torch.where(lowered > 0, lowered, torch.zeros_like(raw)).to(raw)
        # trap: read for what is in it
        shown = torch.matmul(q, k.transpose(-1, -2))
        small = shown * 0.125
        both = torch.cat([small, shown], dim=-1)
        # trap: its values are asked for
        asked = torch.matmul(q, k.transpose(-1, -2))
        less = asked * 0.125
        return weights @ x, kept, both, less.masked_fill(asked.gt(0), 0)
