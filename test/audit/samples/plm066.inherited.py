import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        self.neck = nn.Linear(8, 8)


class Matte(Stem):
    def __init__(self):
        super().__init__()
        self.fine = nn.Linear(8, 8)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.fine(self.neck(self.trunk(x))))


def some(loader, loss, rank):
    net = Matte().to(rank)
    spread = DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.Adam(
        [{"params": net.neck.parameters(), "lr": 1e-4}, {"params": net.fine.parameters()}]  # expect: PLM066
    )
    for x, y in loader:
        optimizer.zero_grad()
        loss(spread(x.to(rank)), y.to(rank)).backward()
        optimizer.step()


# trap: the groups name all that learns, inherited or not
def every(loader, loss, rank):
    net = Matte().to(rank)
    groups = [{"params": net.trunk.parameters(), "lr": 1e-5}]
    groups.append({"params": net.neck.parameters(), "lr": 1e-4})
    groups += [{"params": net.fine.parameters()}]
    optimizer = torch.optim.Adam(groups)
    for x, y in loader:
        optimizer.zero_grad()
        loss(net(x.to(rank)), y.to(rank)).backward()
        optimizer.step()


# trap: what else is in the list nobody sees here
def others(net, more, loader, loss, rank):
    optimizer = torch.optim.Adam(list(net.head.parameters()) + more)
    for x, y in loader:
        optimizer.zero_grad()
        loss(net(x.to(rank)), y.to(rank)).backward()
        optimizer.step()


def joined(net, loader, loss, rank):
    heads = list(net.left.parameters())
    heads += list(net.right.parameters())
    optimizer = torch.optim.Adam(heads + [net.scale])  # expect: PLM066
    for x, y in loader:
        optimizer.zero_grad()
        loss(net(x.to(rank)), y.to(rank)).backward()
        optimizer.step()
