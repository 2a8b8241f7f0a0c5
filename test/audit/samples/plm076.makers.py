import random

import torch
from torch.utils.data import DataLoader, Subset


def both(args):
    train = DataLoader(args.train_set, batch_size=32, shuffle=True, num_workers=4)
    held = DataLoader(args.held_set, batch_size=32, num_workers=4)
    print(len(train), len(held))
    return train, held


def by_split(args):
    loaders = {}
    for split, data in args.sets.items():
        loaders[split] = DataLoader(data, batch_size=32, num_workers=4)
    return loaders


def drawn(args):
    some = random.sample(range(len(args.train_set)), 1000)
    return DataLoader(Subset(args.train_set, some), batch_size=32, num_workers=4)


def once(args):
    loader = args.loader
    if loader is None:
        loader = DataLoader(args.train_set, batch_size=32, num_workers=4)
        args.loader = loader
    return loader


def step(net, optimizer, batch):
    net(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def run(net, optimizer, args):
    for epoch in range(args.epochs):
        train, held = both(args)  # expect: PLM076
        for batch in train:
            step(net, optimizer, batch)


def run_splits(net, optimizer, args):
    for epoch in range(args.epochs):
        loaders = by_split(args)  # expect: PLM076
        for batch in loaders["train"]:
            step(net, optimizer, batch)


def run_drawn(net, optimizer, args):
    for epoch in range(args.epochs):
        # trap: other examples in each epoch
        train = drawn(args)
        for batch in train:
            step(net, optimizer, batch)


def run_kept(net, optimizer, args):
    for epoch in range(args.epochs):
        # trap: made in the first epoch, and kept
        train = once(args)
        for batch in train:
            step(net, optimizer, batch)


class Runner:
    def __init__(self, net, optimizer, data):
        self.net = net
        self.optimizer = optimizer
        self.data = data
        self.pool = data

    @property
    def loader(self):
        return DataLoader(self.data, batch_size=32, shuffle=True, num_workers=4)

    @property
    def pooled(self):
        return DataLoader(self.pool, batch_size=32, shuffle=True, num_workers=4)

    def run(self, epochs):
        for epoch in range(epochs):
            for batch in self.loader:  # expect: PLM076
                step(self.net, self.optimizer, batch)

    def grow(self, epochs):
        for epoch in range(epochs):
            # trap: the pool has grown since
            for batch in self.pooled:
                step(self.net, self.optimizer, batch)
            self.collect()

    def collect(self):
        self.pool = torch.utils.data.ConcatDataset([self.pool, self.data])

    def once(self):
        # trap: gone through once
        for batch in self.loader:
            step(self.net, self.optimizer, batch)


def adversarial(net, judge, optimizer, data):
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=4)
    real = lambda: next(iter(loader))[0].cuda()  # expect: PLM076
    for _ in range(1000):
        (judge(net()) - judge(real())).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def looked_at(net, optimizer, data, batches):
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=4)
    # trap: asked once, before the loop
    first = lambda: next(iter(loader))[0].cuda()
    print(first().shape)
    for batch in batches:
        step(net, optimizer, batch)
