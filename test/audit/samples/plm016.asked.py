import copy
from types import SimpleNamespace

import torch

device = torch.device("cuda")


def distil(net, still, loader, optimizer):
    for x in loader:
        x = x.to(device)
        with torch.no_grad():
            wanted = still(x)
        loss = (net(x) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def start(net, loader, optimizer):
    net.train()
    still = copy.deepcopy(net)  # expect: PLM016
    # trap: changed for what is written to disk, and run by no step
    exported = copy.deepcopy(net)
    for p in exported.parameters():
        p.requires_grad = False
    torch.jit.trace(exported, torch.zeros(1, 8, device=device))
    distil(net, still, loader, optimizer)


class Contrast:
    def __init__(self, net):
        self.net = net.train()
        self.keys = copy.deepcopy(self.net)  # expect: PLM016
        for p in self.keys.parameters():
            p.requires_grad = False

    def train(self, loader, optimizer):
        for x in loader:
            x = x.to(device)
            loss = (self.net(x) - self.keys(x)).pow(2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def tune(net, loader, optimizer):
    net.train()
    nets = SimpleNamespace(net=net, guide=copy.deepcopy(net))  # expect: PLM016
    nets.guide.requires_grad_(False)
    # trap: it learns from there
    fast = copy.deepcopy(net)
    # trap: pushed away from the other one, and asked for gradients
    worst = copy.deepcopy(net)
    for x in loader:
        x = x.to(device)
        fast(x).mean().backward()
        for p in worst.parameters():
            p.data.add_(torch.randn_like(p))
        worst(x).mean().backward()
        loss = (nets.net(x) - nets.guide(x)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def near(net, begun, loader, optimizer):
    for x in loader:
        loss = net(x.to(device)).mean()
        for p, q in zip(net.parameters(), begun.parameters()):
            loss = loss + (p - q.detach()).pow(2).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def stay_near(net, loader, optimizer):
    net.train()
    begun = copy.deepcopy(net)  # expect: PLM016
    near(net, begun, loader, optimizer)


def meet(net, loader, optimizer):
    net.train()
    # trap: it goes ahead, and the other one follows
    ahead = copy.deepcopy(net)
    for x in loader:
        ahead(x.to(device)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    for p, q in zip(net.parameters(), ahead.parameters()):
        p.grad = p.data - q.data
