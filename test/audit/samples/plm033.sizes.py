import math

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.key = nn.Linear(width, width)

    def forward(self, x, table):
        keys = self.key(x)
        root = torch.tensor(keys.shape[-1], dtype=x.dtype, device=x.device).sqrt()  # expect: PLM033
        # trap: made on the device, of a number that goes there with the launch
        full = torch.full((), keys.shape[-1], device=x.device)
        # trap: a part of what is handed in, which may be there already
        part = torch.as_tensor(table[0], device=x.device)
        batch, steps, width = x.size()
        mean = torch.tensor(1.0 / x.size(0), device=x.device)  # expect: PLM033
        ends = torch.tensor([steps - 1, width - 1], device=x.device)  # expect: PLM033
        smooth = torch.tensor([0.9] + [0.1 / (width - 1)] * (width - 1)).to(x.device)  # expect: PLM033
        depth = torch.tensor(math.sqrt(width), device=x.device)  # expect: PLM033
        # trap: on the host, for what is reckoned there
        host = torch.tensor([steps - 1, width - 1])
        # trap: as many as there are, of no list
        rows = torch.arange(batch, device=x.device)
        return keys / root + part / full + mean * ends.sum() * smooth.sum() / depth, host, rows


def train(loader, table):
    net = Scaled(8).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x in loader:
        optimizer.zero_grad()
        net(x.cuda(), table).mean().backward()
        optimizer.step()
