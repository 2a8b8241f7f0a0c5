import math

import numpy as np
import torch
from torch import nn


class Counted(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.table = nn.Embedding(size, width)
        self.width = width

    def forward(self, tokens, parts, names):
        length = tokens.size(1)
        places = torch.tensor(list(range(length)), device=tokens.device)  # expect: PLM033
        later = torch.LongTensor([place + 1 for place in range(length)]).to(tokens.device)  # expect: PLM033
        half = self.width // 2
        rates = [math.exp(-place / half) for place in range(half)]
        rates = torch.tensor(rates, device=tokens.device)  # expect: PLM033
        sides = [0.0] * length + [1.0] * length
        sides = torch.tensor(sides).unsqueeze(0).type_as(rates)  # expect: PLM033
        steps = torch.from_numpy(np.arange(length)).to(tokens.device)  # expect: PLM033
        more = rates.new_tensor(list(range(length)))  # expect: PLM033
        shares = [1.0 / (at + 1) for at in range(length)]
        shares = torch.FloatTensor(shares).to(tokens.device)  # expect: PLM033
        wide = np.reshape(np.array(range(length)), [1, length, 1, 1])
        wide = torch.FloatTensor(wide).to(tokens.device)  # expect: PLM033
        # trap: an array of who knows what
        given = torch.FloatTensor(np.reshape(np.array(names), [1, -1])).to(tokens.device)
        # trap: a size, which nothing is copied for
        room = torch.FloatTensor(len(names)).to(tokens.device)
        # trap: counted on the device
        there = torch.arange(length, device=tokens.device)
        # trap: tensors, of which nobody says where they are
        stacked = torch.as_tensor([parts[at] for at in range(length)], device=tokens.device)
        # trap: what is added afterwards may be anything
        found = [0]
        found.extend(names)
        found = torch.tensor(found, device=tokens.device)
        # trap: a size, filled on the device
        blank = torch.zeros(length, device=tokens.device)
        return wide + given + self.table(places + later + steps + there + more) * rates.mean() + shares + room + sides + stacked + found + blank


def train(loader, parts):
    net = Counted(512, 8).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x, names in loader:
        optimizer.zero_grad()
        net(x.cuda(), parts, names).mean().backward()
        optimizer.step()


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, at):
        # trap: made by a worker, and left on the host
        return self.rows[at], torch.tensor(list(range(len(self.rows[at]))))
