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


class Queue(nn.Module):
    def __init__(self, body, keys):
        super().__init__()
        self.body, self.keys = body, keys
        self.register_buffer("queue", torch.zeros(64, 8))
        self.register_buffer("bank", torch.zeros(64, 8))

    def forward(self, x):
        with torch.no_grad():
            keys = self.keys(x)
        # trap: the keys have no graph
        self.queue = torch.cat([self.queue, keys])[-64:]
        out = self.body(x)
        self.bank = torch.cat([self.bank, out])[-64:]  # expect: PLM018
        # trap: as many as there are, and none of their graphs
        self.latest = (self.latest + [x.shape[0]])[-8:]
        return out


class Rows(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Linear(dim, dim)
        self.register_buffer("bank", torch.zeros(64, dim))
        self.register_buffer("seen", torch.zeros(64, dim))

    def store(self, rows, at):
        # trap: who hands them in may have cut them off
        self.bank[at] = rows

    def forward(self, x, at):
        out = self.body(x)
        # trap: cut off
        self.bank[at] = out.detach()
        with torch.no_grad():
            # trap: nothing is recorded
            self.bank[at] = out
        self.seen[at] = out  # expect: PLM018
        return out
