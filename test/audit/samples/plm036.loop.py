import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer.to(x.device)(x)  # expect: PLM036
        return x


def train(loader, optimizer, device):
    net = Stack(8, 2)
    # trap: once
    net.to(device)
    for x in loader:
        net.to(device)  # expect: PLM036
        net(x.to(device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def take_turns(loader, optimizer, device):
    net = Stack(8, 2)
    for x in loader:
        # trap: it is sent away below
        net.to(device)
        net(x.to(device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        net.to("cpu")
