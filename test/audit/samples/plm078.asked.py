import torch
from torch import nn


class Turns(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rates", 10000.0 ** -(torch.arange(0, width, 2).float() / width))

    def forward(self, length, device):
        return torch.outer(torch.arange(length, device=device), self.rates)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.turns = Turns(width)
        self.out = nn.Linear(width // 2, width)
        self.register_buffer("table", None, persistent=False)
        self.register_buffer("kept", None, persistent=False)
        self.hook = None
        self.rows = None

    def angles(self, length, device):
        if self.table is not None and self.table.shape[0] >= length:  # expect: PLM078
            return self.table[:length]
        made = self.turns(length, device)
        return made

    def heights(self, length, device):
        # trap: this one keeps what it makes
        if self.kept is not None and self.kept.shape[0] >= length:
            return self.kept[:length]
        made = self.turns(length, device)
        self.register_buffer("kept", made, persistent=False)
        return made

    def seen(self, x):
        # trap: somebody else may hang something there
        if self.hook is not None and self.training:
            return self.hook(x)
        x = torch.relu(self.out(x))
        return x

    def slopes(self, length, device):
        if self.rows is not None and self.rows.size(0) == length:  # expect: PLM078
            return self.rows
        return self.turns(length, device).cos()

    def forward(self, x):
        length, device = x.shape[1], x.device
        x = x * self.angles(length, device) + self.heights(length, device)
        return self.seen(x * self.slopes(length, device))


def train(loader):
    net = Block(64).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        loss = net(x.cuda()).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
