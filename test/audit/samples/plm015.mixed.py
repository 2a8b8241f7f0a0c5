import copy

import torch

device = torch.device("cuda")


def reptile(model, loader, optimizer, beta):
    for x in loader:
        # trap: computed with right away
        before = copy.deepcopy(model.state_dict())
        model(x.to(device)).sum().backward()
        optimizer.step()
        after = model.state_dict()
        model.load_state_dict({k: before[k] + (after[k] - before[k]) * beta for k in before})


def keep(model, loader, optimizer):
    for x in loader:
        model(x.to(device)).sum().backward()
        optimizer.step()
        best = copy.deepcopy(model.state_dict())  # expect: PLM015
    return best
