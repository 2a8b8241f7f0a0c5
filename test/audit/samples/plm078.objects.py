import torch
from torch import nn


def table(width, longest):
    return torch.outer(torch.arange(longest), 1.0 / torch.arange(1, width))


class Angles:
    def __init__(self, width, longest):
        self.width = width
        self.longest = longest
        # trap: once
        self.kept = table(width, longest)

    def __call__(self, places):
        return table(self.width, self.longest)[places] + self.kept[places]  # expect: PLM078

    def describe(self):
        # trap: no forward runs it
        return table(self.width, self.longest)


class Drawn:
    def __init__(self, width):
        self.width = width

    # trap: of what it is given
    def __call__(self, places):
        return table(self.width, places.max())[places]


class Turned(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.angles = Angles(width, 4096)
        self.drawn = Drawn(width)
        self.inner = nn.Linear(width, width)

    def forward(self, x, places):
        return self.inner(x) * self.angles(places).cos() + self.drawn(places)


def train(loader):
    net = Turned(64).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x, places in loader:
        optimizer.zero_grad()
        net(x.cuda(), places.cuda()).mean().backward()
        optimizer.step()
