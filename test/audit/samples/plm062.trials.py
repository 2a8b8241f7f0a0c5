import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


def search(widths, loader):
    for width in widths:
        model = Net(width)
        model.to("cuda")
        # trap: another network in each turn
        model.compile()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x.cuda()).sum().backward()
            optimizer.step()
