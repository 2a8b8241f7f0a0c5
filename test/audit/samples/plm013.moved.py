import functools

import torch


def train(net, schedule, loader, optimizer, device):
    @functools.lru_cache(maxsize=None)  # expect: PLM013
    def sigmas_at(steps, axes=4):
        known = schedule.steps.to(device)
        steps = steps.to(device)
        found = [(known == one).nonzero().item() for one in steps]
        return schedule.sigmas[found].reshape(-1, *[1] * (axes - 1))

    @functools.lru_cache(maxsize=None)  # expect: PLM013
    def weights_at(steps):
        return schedule.weights[steps.to("cpu")]

    # trap: a network is itself however often it is asked for, and moved as well
    @functools.lru_cache(maxsize=4)
    def ready(part):
        part = part.to(device)
        return part.eval()

    # trap: looked up by numbers
    @functools.lru_cache(maxsize=8)
    def sigma(step):
        return schedule.table[step]

    ready(net)
    for clean in loader:
        steps = torch.randint(0, 1000, (len(clean),))
        loss = (net(clean, sigmas_at(steps)) * weights_at(steps) * sigma(3)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
