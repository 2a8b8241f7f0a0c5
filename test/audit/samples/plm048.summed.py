import math

import torch
from torch import nn
from torch.nn.functional import softmax


def skewed(x):
    return x[:, :, :-1]


class Placed(nn.Module):
    def __init__(self, width, memory, gate):
        super().__init__()
        self.width = width
        self.memory = memory

    def forward(self, query, key, places, value):
        content = skewed(torch.matmul(query, key.transpose(-1, -2)))
        offsets = torch.matmul(query, places)
        attn = content + offsets
        if self.memory is not None:
            attn, more = self.memory(query, attn)
        else:
            scaled = attn / math.sqrt(self.width)  # likely: PLM048
            attn = softmax(scaled, dim=-1)
        return torch.matmul(attn, value)


class Returned(nn.Module):
    def __init__(self, width, memory):
        super().__init__()
        self.width = width
        self.memory = memory

    def forward(self, query, key, places, value):
        scores = query @ key.transpose(-1, -2) + query @ places
        if self.memory is not None:
            return self.memory(scores, value)
        scaled = scores / math.sqrt(self.width)  # expect: PLM048
        return softmax(scaled, dim=-1) @ value


class Biased(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, query, key, bias, value, found):
        scores = torch.einsum("bnd,bmd->bnm", query, key) - bias
        scaled = scores.div(math.sqrt(self.width))  # likely: PLM048
        # trap: the same name
        others = torch.einsum("bnd,bmd->bnm", query, key) - bias
        others = others / math.sqrt(self.width)
        # trap: read again below
        seen = query @ key.transpose(-1, -2) + bias
        soft = seen / math.sqrt(self.width)
        # trap: a sum of two numbers for each example
        margin = query.mean(-1) + key.mean(-1)
        halved = margin / 2
        # trap: read on the same way, for all that a branch above returns
        kept = torch.einsum("bnd,bmd->bnm", key, key) + bias
        if found:
            self.seen = kept.argmax(-1)
        turned = kept / math.sqrt(self.width)
        return scaled.relu() @ value, others, soft.relu(), seen, halved, turned.relu()
