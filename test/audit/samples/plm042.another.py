import torch
from torch import nn


class Turning:
    def __init__(self, table):
        self.table = table

    def turned(self, x):
        return x * self.table.rates.to(x.device)  # expect: PLM042

    def raised(self, x):
        # trap: that one is a buffer
        return x + self.table.heights.to(x.device)

    def shifted(self, x):
        # trap: somebody else puts another one there
        return x + self.table.offsets.to(x.device)


class Table(nn.Module):
    maker = Turning

    def __init__(self, width):
        super().__init__()
        self.rates = 10000.0 ** -(torch.arange(0, width, 2).float() / width)
        self.offsets = torch.zeros(width)
        self.register_buffer("heights", torch.linspace(0, 1, width))

    def forward(self, x):
        return x, self.maker(self)


def place(table, device):
    table.offsets = table.offsets.to(device)


class Stranger:
    def __init__(self, table):
        self.table = table

    def turned(self, x):
        # trap: who knows whose
        return x * self.table.rates.to(x.device)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.places = Table(width)
        self.turns = Table(width).cuda()
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(x * self.places.rates.to(x.device))  # expect: PLM042


def train(loader):
    net = Layer(64).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        x, turning = Table(64)(x.cuda())
        loss = net(turning.turned(x)).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
