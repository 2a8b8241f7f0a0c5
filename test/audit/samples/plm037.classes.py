import torch
from torch.nn import functional as F
from torch.utils import data


class RollLoader(data.DataLoader):
    def __init__(self, rolls, size):
        super().__init__(rolls, batch_size=size, num_workers=4, pin_memory=True)


class AskedLoader(data.DataLoader):
    def __init__(self, rolls, size, pin_memory=True):
        super().__init__(rolls, batch_size=size, num_workers=4, pin_memory=pin_memory)


class PlainLoader(data.DataLoader):
    def __init__(self, rolls, size):
        super().__init__(rolls, batch_size=size, num_workers=4)


class SentLoader(data.DataLoader):
    def __init__(self, rolls, size):
        super().__init__(rolls, batch_size=size, num_workers=4, pin_memory=True)

    def __iter__(self):
        for roll in super().__iter__():
            yield torch.cat([roll, roll])


def run(net, rolls, optimizer):
    net.cuda()
    for roll, kind in RollLoader(rolls, 8):
        loss = F.cross_entropy(net(roll.cuda()), kind)  # expect: PLM037
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    # trap: asked not to
    for roll, kind in AskedLoader(rolls, 8, pin_memory=False):
        loss = F.cross_entropy(net(roll.cuda()), kind)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    # trap: pins nothing
    for roll, kind in PlainLoader(rolls, 8):
        loss = F.cross_entropy(net(roll.cuda()), kind)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    # trap: hands out what it made of the pinned ones
    for roll in SentLoader(rolls, 8):
        loss = net(roll.cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
