import torch
import torch.nn.functional as F
from torch import nn


def lowered(layer, x):
    return F.linear(x.half(), layer.weight.half()).float()  # expect: PLM036


def noted(layer):
    # trap: what is given is no layer of a network
    return layer.weight.half()


def saved(layer, path):
    # trap: no forward calls it
    torch.save(layer.weight.half(), path)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return lowered(self.body, x)

    def export(self, path):
        saved(self.head, path)


def fit(batches, optimizer, edges):
    net = Net(64).cuda()
    first = Net(64)
    # trap: once
    head = first.head.weight.to("cuda")
    for x, y in batches:
        x, y = x.cuda(), y.cuda()
        inner = net(x)
        guess = inner @ first.head.weight.to(inner.device).t()  # expect: PLM036
        guess = guess + inner @ head.t() + noted(edges)
        # trap: to the host, to be shown
        shown = first.head.weight.to("cpu")
        loss = F.cross_entropy(guess, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return shown
