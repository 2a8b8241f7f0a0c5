import torch
from functools import partial
from torch.nn.parallel import DistributedDataParallel


class Runner:
    def __init__(self, net, optimizer, loader, rank):
        self.net = DistributedDataParallel(net.to(rank), device_ids=[rank], gradient_as_bucket_view=True)
        self.optimizer = optimizer
        self.loader = loader
        self.rank = rank

    def accumulated(self, x, y, update=True):
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        loss.backward()  # expect: PLM058
        if update:
            self.optimizer.step()
            self.optimizer.zero_grad()

    # trap: every caller updates in each turn; the flag is for runs that only look
    def plain(self, x, y, update=True):
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        if update:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def epoch(self, learns):
        for i, (x, y) in enumerate(self.loader):
            self.accumulated(x.to(self.rank), y.to(self.rank), update=(i + 1) % 4 == 0)
        for x, y in self.loader:
            self.plain(x.to(self.rank), y.to(self.rank), learns)


def pairs(maker, judge, loader, opt_maker, opt_judge, rank):
    maker = DistributedDataParallel(maker.to(rank), device_ids=[rank], gradient_as_bucket_view=True)
    judge = DistributedDataParallel(judge.to(rank), device_ids=[rank], gradient_as_bucket_view=True)
    for i, (noise, real) in enumerate(loader):
        noise, real = noise.to(rank), real.to(rank)
        opt_judge.zero_grad()
        (judge(real) - judge(maker(noise).detach())).mean().backward()
        opt_judge.step()
        # trap: the rarer step differentiates as rarely
        if i % 5 == 0:
            opt_maker.zero_grad()
            judge(maker(noise)).mean().backward()
            opt_maker.step()


def wrapped(nets, rank):
    wrap = partial(DistributedDataParallel, device_ids=[rank], find_unused_parameters=True)  # expect: PLM058
    # trap: it is not asked for
    other = partial(DistributedDataParallel, device_ids=[rank], find_unused_parameters=False)
    return [wrap(net) for net in nets], other


def several(net, losses, loader, optimizer, rank):
    net = DistributedDataParallel(net.to(rank), device_ids=[rank], gradient_as_bucket_view=True)
    for x in loader:
        optimizer.zero_grad()
        made = net(x.to(rank))
        # trap: several losses of one forward, and the network is only handed to what writes about it
        for loss in losses:
            describe(net)
            loss(made).backward(retain_graph=True)
        optimizer.step()


def describe(net):
    print(type(net))
