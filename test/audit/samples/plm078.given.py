from functools import lru_cache

import torch
from torch import nn

WAVES = {}


def rotate(x, width, base=10000.0):
    length = x.size(-2)
    steps = base ** (-torch.arange(0, width, 2, device=x.device).float() / width)
    angles = torch.outer(torch.arange(length, device=x.device).float(), steps).to(x)
    angles = angles.repeat_interleave(2, dim=-1)
    return x * angles.cos() + x.flip(-1) * angles.sin()  # expect: PLM078


def turn(x):
    length, width = x.shape[-2], x.shape[-1]
    angles = torch.outer(torch.arange(length).float(), 1.0 / torch.arange(1, width // 2 + 1))
    turns = torch.polar(torch.ones_like(angles), angles)  # expect: PLM078
    return torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns.to(x.device)


def nearer(scores):
    places = torch.arange(scores.shape[-1], device=scores.device)
    return scores - (places[None, :] - places[:, None]).abs()  # expect: PLM078


def pixels(x):
    height, width = x.shape[-2:]
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")  # expect: PLM078
    return x + rows.to(x.device) + columns.to(x.device)


def moments(x, times):
    # trap: of the times that it is given
    steps = torch.exp(-torch.arange(x.size(-1), device=x.device) / x.size(-1))
    return x + torch.sin(times[:, None] * steps)


def stretched(x, pace):
    # trap: of another pace for each input
    return x + torch.cos(torch.arange(x.size(-1), device=x.device) * pace)


@lru_cache(maxsize=None)
def kept(length):
    # trap: made once for each length
    return torch.arange(length).float().sin()


def filled(x):
    length = x.size(-1)
    # trap: made once for each length
    if length not in WAVES:
        WAVES[length] = torch.arange(length, device=x.device).float().sin()
    return x + WAVES[length]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.mix = nn.Linear(width, width)
        self.pace = nn.Linear(width, 1)

    def forward(self, x, times):
        x = rotate(self.mix(x), self.width)
        x = pixels(nearer(turn(x).real))
        x = moments(stretched(x, self.pace(x).mean()), times)
        return filled(x) + kept(x.size(-1)).to(x.device)


def train(loader, optimizer):
    net = Block(64).cuda()
    for x, times in loader:
        loss = net(x.cuda(), times.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
