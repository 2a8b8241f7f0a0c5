import torch.nn as nn


def switch(net: nn.Module, learns: bool):
    net.requires_grad = learns  # expect: PLM077


def switch_all(net: nn.Module, learns: bool):
    for parameter in net.parameters():
        # trap: parameters have it
        parameter.requires_grad = learns


class Lazy(nn.Module):
    def __init__(self, width, requires_grad=True):
        super().__init__()
        # trap: its own affair
        self.requires_grad = requires_grad
        self.norm = make(width)

    def forward(self, x):
        mix = make(x.shape[1]).to(x.device)  # expect: PLM077
        # trap: a tensor, and nobody calls it
        bias = table(x.shape[1]).to(x.device)
        return self.norm(mix(x)) + bias


def make(width):
    return nn.LayerNorm(width)


def table(width):
    return nn.init.zeros_(nn.Linear(width, width).weight)
