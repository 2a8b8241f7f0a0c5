import torch
import torch.nn as nn
import torch.nn.functional as F

import kernels


class Tables(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Parameter(torch.empty((vocabulary, width)))
        self.places = nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.kinds = nn.Parameter(nn.init.normal_(torch.empty(vocabulary, width)))
        self.gain = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, tokens, kinds):
        x = self.words.to(torch.float32)[tokens]  # expect: PLM036
        x = x + self.places.float()  # expect: PLM036
        x = x + F.embedding(kinds, self.kinds.type(torch.float32))  # expect: PLM036
        # trap: for a kernel that knows no other type
        x = x + kernels.gather(self.words.float(), tokens)
        # trap: of a norm
        x = x * self.gain.float()
        # trap: one row
        return x + self.shift.to(torch.float32)


class Wide(nn.Linear):
    def forward(self, x):
        return F.linear(x.float(), self.weight.float())  # expect: PLM036


class Unit(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, width))

    def forward(self, x):
        # trap: normalized in full precision on purpose
        weight = self.weight.float()
        near = F.linear(x, F.normalize(weight).to(x.dtype))
        # trap: the same at once
        return near + F.linear(x, F.normalize(self.weight.to(torch.float32)).to(x.dtype))


class Router(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(experts, width))

    def forward(self, x):
        # trap: few numbers, and chosen by in full precision on purpose
        return F.linear(x.float(), self.weight.float()).softmax(-1)
