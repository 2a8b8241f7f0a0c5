import torch
from torch.utils.data import DataLoader

from sending import *
from drawing import *


def train(net, images, criterion):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(images, batch_size=8, num_workers=4, pin_memory=True):
        # trap: one of two files has it, and none of them is here
        x, y = send(x), send(y)
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
