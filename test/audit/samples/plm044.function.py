import math

import torch

device = torch.device("cuda")


def attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)  # expect: PLM044
    return torch.matmul(weights, value)


@torch.no_grad()
def attention_map(query, key, value):
    # trap: nothing is kept for a backward
    weights = (query @ key.transpose(-2, -1)).softmax(dim=-1)
    return weights @ value
