import torch
import torch.nn as nn
from torch.autograd import Variable


class Turned(nn.Module):
    def __init__(self, width, length=512):
        super().__init__()
        self.eye = torch.eye(3).view(1, 9)
        self.table = torch.randn(length, width)
        self.register_buffer("known", torch.ones(1, 9))
        self.fc = nn.Linear(width, 9)

    def forward(self, x):
        eye = self.eye.repeat(x.size(0), 1)
        if x.is_cuda:
            eye = eye.cuda()  # expect: PLM042
        places = self.table[: x.size(1)]
        x = x + places.to(x.device)  # expect: PLM042
        known = self.known.repeat(x.size(0), 1)
        # trap: a buffer moves with the module
        known = known.to(x.device)
        return self.fc(x.mean(1)) + eye + known


class Cached(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.randn(512, width)

    def forward(self, x):
        table = self.table
        # trap: the copy is kept for the next forward
        table = table.to(x.device)
        self.table = table
        return x + table[: x.size(1)]


class Chosen(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.randn(512, width)

    def forward(self, x, own=None):
        table = self.table
        if own is not None:
            table = own
        # trap: one or the other
        return x + table.to(x.device)


class Replay:
    def __init__(self, size, device):
        self.states = torch.zeros(size, 4)
        self.device = device

    def learn(self, net, optimizer, indices):
        rows = self.states[indices]
        # trap: the rows that were drawn for this step
        rows = rows.to(self.device)
        loss = net(rows).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Prior(nn.Module):
    def __init__(self, classes, device):
        super().__init__()
        self.prior = torch.full((classes,), 1.0 / classes)
        self.register_buffer("scale", torch.ones(classes))
        self.fc = nn.Linear(8, classes)
        self.device = device

    def forward(self, x):
        # trap: a buffer moves with the module
        scale = self.scale.exp().to(x.device)
        return self.fc(x) * scale + self.prior.log().to(x.device)  # expect: PLM042


class Wrapped(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.randn(512, width)
        self.register_buffer("known", torch.randn(512, width))

    def forward(self, x):
        x = x + Variable(self.table[: x.size(1)], requires_grad=False).cuda()  # expect: PLM042
        # trap: a buffer moves with the module
        return x + Variable(self.known[: x.size(1)], requires_grad=False).cuda()
