import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(16)
        self.mean = torch.tensor([0.1, 0.2])
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("known", torch.ones(2))

    def forward(self, x):
        t = self.table.to(x.device)  # expect: PLM042
        # trap: a type
        m = self.mean.to(torch.float16)
        # trap: a parameter moves with the module
        s = self.scale.to(x.device)
        # trap: a buffer does too
        k = self.known.to(x.device)
        return x + t + m + s + k

    def setup(self, device):
        # trap: once
        return self.mean.to(device)


class Replay:
    def __init__(self, size, device):
        self.states = torch.zeros(size, 4)
        self.bias = torch.ones(4)
        self.device = device

    def learn(self, net, optimizer, indices):
        # trap: the rows that were drawn for this step
        states = self.states[indices].to(self.device)
        loss = net(states).sum() + self.bias.to(self.device).sum()  # expect: PLM042
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def look_up(table, t):
    return table.to(t.device)[t]  # expect: PLM042


def look_there(table, t):
    # trap: one of the tables is not known to be on the host
    return table.to(t.device)[t]


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.sines = torch.arange(16).sin()
        self.register_buffer("known", torch.ones(2))

    def forward(self, x, t):
        return x * look_up(self.sines, t) + look_there(self.known, t) + look_there(x, t)


class Diffusion(nn.Module):
    def __init__(self, betas, scales, device):
        super().__init__()
        alphas = 1 - betas
        products = torch.cumprod(alphas, dim=0)
        before = torch.cat([torch.ones(1), products[:-1]])
        self.roots = torch.sqrt(products)
        self.moved = torch.sqrt(products).to(device)
        self.scales = torch.sqrt(scales)
        self.register_buffer("before", before)

    def forward(self, x, t):
        roots = self.roots.to(x.device)[t]  # expect: PLM042
        # trap: was sent there
        moved = self.moved.to(x.device)[t]
        # nobody says where it is
        scales = self.scales.to(x.device)[t]  # likely: PLM042
        return x * roots + moved + scales


class Timed(nn.Module):
    def __init__(self, width):
        super().__init__()
        table = self.build(200, width)
        self.table = table
        self.register_buffer("kept", torch.randn(200, width))

    def build(self, length, width):
        table = torch.zeros(length, width)
        table[:, 0] = torch.arange(length).float()
        return table.unsqueeze(1)

    def rows(self, count, each):
        rows = self.table[:count]
        rows = rows.repeat_interleave(each, dim=0)
        return rows

    def others(self, count):
        return self.kept[:count]

    def made(self, count):
        return torch.zeros(count)

    def forward(self, x):
        x = x + self.rows(len(x), 2).to(x.device)  # expect: PLM042
        # trap: a buffer, which is there
        x = x + self.others(len(x)).to(x.device)
        # trap: made anew
        return x + self.made(len(x)).to(x.device)
