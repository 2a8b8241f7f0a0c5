import torch
from torch import nn
from torch.nn import functional as F


def perturbed(net, x, y, steps=7):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(net(x + delta), y)
        loss.backward()  # expect: PLM066
        delta.data = (delta + 0.03 * delta.grad.sign()).clamp(-0.1, 0.1)
        delta.grad.zero_()
    return (x + delta).detach()


def asked_for_alone(net, x, y, steps=7):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(net(x + delta), y)
        (gradient,) = torch.autograd.grad(loss, delta)  # trap: that of the input alone
        delta.data = (delta + 0.03 * gradient.sign()).clamp(-0.1, 0.1)
    return (x + delta).detach()


def train(loader):
    net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        seen = torch.cat([perturbed(net, x, y), asked_for_alone(net, x, y)])
        optimizer.zero_grad()
        F.cross_entropy(net(seen), torch.cat([y, y])).backward()
        optimizer.step()
