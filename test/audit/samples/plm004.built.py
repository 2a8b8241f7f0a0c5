"""What a network is built of is no output."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, zero_init):
        super().__init__()
        self._construct_block(dim, zero_init)

    def _construct_block(self, dim, zero_init):
        # trap: layers
        self.conv_list = [nn.Conv1d(dim, dim, 3, padding=1), nn.ReLU(inplace=True)]
        self.conv_out = nn.Conv1d(dim, dim, 1)
        # trap: a flag on a layer
        self.conv_out.zero_init = zero_init
        self.seen = None

    def _resize_output(self, new_size):
        # trap: a number
        self.conv_out.n_out = new_size

    def forward(self, x):
        for layer in self.conv_list:
            x = layer(x)
        self.seen = self.conv_out(x)  # expect: PLM004
        return x


def train(net, loader, optimizer):
    net.cuda()
    for x in loader:
        net(x.cuda()).mean().backward()
        optimizer.step()
