import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


def run(loader, loss, epochs):
    net = Net().cuda()
    learned = nn.ModuleList([])
    learned.append(net)
    optimizer = torch.optim.SGD(learned.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss(net(x.cuda()), y.cuda()).backward()
            optimizer.step()
        best = copy.deepcopy(net.state_dict())  # expect: PLM015
    return best
