import copy

import torch
from helpers import update_moving_average

device = torch.device("cuda")


def follow(slow, fast, decay=0.999):
    of_slow, of_fast = slow.state_dict(), dict(fast.named_parameters())
    weights = dict(slow.named_parameters())
    for name in weights:
        weights[name].data.mul_(decay).add_(of_fast[name].data, alpha=1 - decay)
    return of_slow


def train(net, loader, optimizer):
    net.train()
    painter = copy.deepcopy(net)  # expect: PLM016
    second = copy.deepcopy(net)  # expect: PLM016
    third = copy.deepcopy(net)  # expect: PLM016
    fourth = copy.deepcopy(net)  # expect: PLM016
    # trap: shaken, each by itself
    shaken = copy.deepcopy(net)
    # trap: begins where the other is, and learns from there
    local = copy.deepcopy(net)
    # trap: what the other is moved towards, and so what learns
    inner = copy.deepcopy(net)
    for x in loader:
        loss = net(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        follow(painter, net)
        follow(net, inner)
        update_moving_average(fourth, net.module)
        with torch.no_grad():
            for (_, s), (_, p) in zip(second.named_parameters(), net.named_parameters()):
                s.lerp_(p, 0.001)
            for s, p in zip(third.parameters(), net.parameters()):
                s.data = s.data * 0.999 + p.data * 0.001
            for s in shaken.parameters():
                s.add_(torch.randn_like(s))
            for s, p in zip(local.parameters(), net.parameters()):
                s.data.copy_(p.data)
    return painter, second, third, fourth, shaken, local, inner
