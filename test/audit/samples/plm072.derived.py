"""Joined, of what loaders hand out that are made from torch's own, or that a method is given in a dict."""

import torch
from torch.utils.data import DataLoader

from elsewhere import EndlessDataLoader, PrefetchDataLoader


class SendingDataLoader(DataLoader):
    def __iter__(self):
        for batch in super().__iter__():
            yield batch.to("cuda", non_blocking=True)


class CountingDataLoader(DataLoader):
    def __iter__(self):
        self.turn = 0
        for batch in super().__iter__():
            self.turn += 1
            yield batch


def train(net, data, optimizer, steps):
    endless = iter(EndlessDataLoader(data, batch_size=8, num_workers=4, pin_memory=True))
    plain = iter(EndlessDataLoader(data, batch_size=8, num_workers=4, pin_memory=False))
    for step in range(steps):
        image = next(endless)
        both = torch.cat([image, image.flip(3)]).to("cuda")  # expect: PLM072
        other = next(plain)
        # trap: not pinned to begin with
        others = torch.cat([other, other.flip(3)]).to("cuda")
        loss = net(both).mean() + net(others).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def count(net, data, optimizer):
    for image in CountingDataLoader(data, batch_size=8, num_workers=4, pin_memory=True):
        both = torch.cat([image, image.flip(3)]).to("cuda")  # expect: PLM072
        net(both).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def sent(net, data, optimizer):
    for image in SendingDataLoader(data, batch_size=8, num_workers=4, pin_memory=True):
        # trap: on the device by then
        both = torch.cat([image, image.flip(3)]).to("cuda")
        net(both).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def fetched(net, data, optimizer):
    for image in PrefetchDataLoader(data, batch_size=8, num_workers=4, pin_memory=True):
        # trap: what fetches ahead may have sent it
        both = torch.cat([image, image.flip(3)]).to("cuda")
        net(both).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def source(rows):
    return DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)


class Pairs:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer
        self.loaders = {}
        self.tables = {}
        self.payload = {}

    def use(self, loaders, tables, payload):
        self.payload = payload
        self.loaders = loaders
        self.tables = tables

    def fit(self):
        for known, plain in zip(self.loaders["known"], self.loaders["plain"]):
            both = torch.cat((known, plain)).cuda()  # expect: PLM072
            self.net(both).mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def look_up(self):
        for known, plain in zip(self.tables["known"], self.tables["plain"]):
            # trap: rows of tables, which nobody pinned
            both = torch.cat((known, plain)).cuda()
            self.net(both).mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def unpack(self):
        for known, plain in zip(self.payload["known"], self.payload["plain"]):
            # trap: whatever came with a message
            both = torch.cat((known, plain)).cuda()
            self.net(both).mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
