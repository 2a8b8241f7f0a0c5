import torch
from torch import nn


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.running_min = None
        self.calibrated = False

    def forward(self, x):
        min_val = x.min()
        if not self.calibrated:
            self.running_min = min_val.cpu().clone()  # expect: PLM018
            self.calibrated = True
        else:
            self.running_min = self.running_min * 0.9 + min_val.cpu() * 0.1  # expect: PLM018
        return x


class UnderNoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    def forward(self, x):
        # trap: nothing is recorded here
        with torch.no_grad():
            self.mean = self.mean * 0.9 + x.mean() * 0.1
        return x - self.mean


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(1)

    def forward(self, x):
        # trap: detached before it is mixed in
        stat = x.detach().mean()
        self.mean = self.mean * 0.9 + stat * 0.1
        return x


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))

    @torch.no_grad()
    def update(self, x):
        # trap: decorated
        self.mean = self.mean * 0.9 + x.mean() * 0.1

    def forward(self, x):
        self.update(x)
        return x


class Counter(nn.Module):
    def forward(self, x):
        # trap: a Python number
        self.calls = self.calls + x.size(0)
        return x


class Plain:
    def forward(self, x):
        # trap: not a module
        self.state = self.state * 0.9 + x.mean() * 0.1
        return self.state


class Compiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def speed_up(self, *args, **kwargs):
        # trap: a compiled function, no statistic
        self.loss = torch.compile(self.loss, *args, **kwargs)


class Wrapped(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def distribute(self, device_ids):
        # trap: wraps a module, computes nothing
        self.module = nn.parallel.DistributedDataParallel(self.module, device_ids=device_ids)
        return self

    def forward(self, x):
        return self.module(x)


class Quantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(8)

    def pack(self, table=None):
        # trap: set up once, and not computed from the old one
        self.table = table.clone() if table is not None else self.table

    def forward(self, x):
        return x * self.table


class Measuring(nn.Module):
    def rows(self, x):
        return x.shape[0]

    def cut(self, x):
        return x.detach()


class Counted(Measuring):
    def __init__(self):
        super().__init__()
        self.seen = 0
        self.center = None

    def forward(self, x):
        # trap: how many there were
        self.seen = self.seen + self.rows(x)
        # trap: the parent's method cuts it off
        self.center = self.center * 0.9 + self.cut(x).mean(0) * 0.1
        return x
