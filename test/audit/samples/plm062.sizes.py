import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)


def sweep(widths, loader):
    for width in widths:
        net = Net(width).cuda()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        # trap: another network for each size
        net = torch.compile(net)
        for x, y in loader:
            optimizer.zero_grad()
            (net(x.cuda()) - y.cuda()).pow(2).mean().backward()
            optimizer.step()


def again(net, loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        fast = torch.compile(net)  # expect: PLM062
        for x, y in loader:
            optimizer.zero_grad()
            (fast(x.cuda()) - y.cuda()).pow(2).mean().backward()
            optimizer.step()
