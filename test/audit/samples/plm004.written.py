"""What a method has just written to the object, and names that are put together."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.LSTMCell(width, width)
        self.gate = build(width)

    def begin(self, x):
        self.hidden = x.new_zeros(x.shape[1:])
        self.carry = x.new_zeros(x.shape[1:])

    def advance(self, x):
        self.hidden, self.carry = self.cell(x, (self.hidden, self.carry))
        mixed = torch.cat((self.hidden, x), -1)
        return self.gate(mixed), self.hidden

    def forward(self, xs):
        self.begin(xs)
        gates, states = [], []
        for x in xs:
            gate, state = self.advance(x)
            gates += [gate]
            states += [state]
        self.gates_seen = torch.stack(gates)  # expect: PLM004
        return torch.stack(states)


class Stages(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stages = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        for i, stage in enumerate(self.stages):
            x = stage(x)
            setattr(self, f"stage_{i}", x)  # expect: PLM004
        return x


class Cut(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        for i, part in enumerate(self.parts):
            x = part(x)
            # trap: cut off
            setattr(self, f"part_{i}", x.detach())
        return x

    @torch.no_grad()
    def look(self, x):
        for i, part in enumerate(self.parts):
            x = part(x)
            # trap: without a graph
            setattr(self, f"look_{i}", x)
        return x


class Read(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.levels = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        for i, level in enumerate(self.levels):
            x = level(x)
            # trap: somebody reads one of them with its graph
            setattr(self, f"level_{i}", x)
        return x

    def deep_penalty(self):
        return self.level_3.square().mean()


class Counted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.seen = 0

    def forward(self, x):
        self.seen = x.shape[0]
        # trap: a count that was just written
        self.total_seen = self.seen * 2
        return self.layer(x)


class Compiled(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def compile(self, mode):
        self.net = torch.compile(self.net, mode=mode)
        # trap: a network, and no tensor
        self.shown_net = self.net
        return self.net

    def forward(self, x):
        return self.net(x)


class Unpacked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cells = nn.LSTM(width, width)

    def forward(self, x):
        out, self.ends = self.cells(x)  # expect: PLM004
        return out


class Carried(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cells = nn.LSTM(width, width)
        self.carried = None

    def forward(self, x):
        # trap: the next forward goes on from it
        out, self.carried = self.cells(x, self.carried)
        return out
