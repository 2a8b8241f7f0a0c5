import torch
from measures import count_of, spread_loss


def train(net, loader, optimizer, options):
    net = net.to(options.gpus[0])
    for x, y in loader:
        a, b = net(x.to(options.gpus[0])).chunk(2)
        worst = max(spread_loss(a), spread_loss(b))  # expect: PLM027
        least = min([a.mean(), b.mean()])  # expect: PLM027
        most = max(one.square().mean() for one in (a, b))  # expect: PLM027
        # trap: numbers, by their names and what they are given
        weight = max(count_of(a), 1)
        # trap: sizes
        longest = max([len(a), len(b)])
        # trap: compared by something else
        chosen = max([a, b], key=len)
        # trap: of settings alone
        share = max(spread_loss(options.seed), 0.1)
        loss = (worst + least + most) / (weight + longest) + chosen.mean() * share
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def listed(net, loader, optimizer):
    devices = ["cpu", "cuda"]
    for x in loader:
        # trap: the first of them is the host
        here = x.to(devices[0])
        bound = max(here.mean(), here.std())
        loss = net(x.to(devices[1])).mean() * bound
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
