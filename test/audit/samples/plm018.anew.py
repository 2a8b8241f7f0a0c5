import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.total = None

    def begin(self, inputs):
        self.total = torch.zeros(inputs.shape[:2], device=inputs.device)

    def add(self, weights):
        # trap: begun anew for each sequence
        self.total += weights

    def forward(self, query, inputs):
        weights = torch.softmax(self.query(query) @ inputs.transpose(1, 2), dim=-1)
        self.add(weights)
        return weights


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, queries, inputs):
        self.attention.begin(inputs)
        return [self.attention(query, inputs) for query in queries]
