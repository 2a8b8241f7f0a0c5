import copy

import torch


def train(model, optimizers, loader):
    model.cuda()
    # trap: taken back after the warm-up, and deleted
    initial = dict(
        model=copy.deepcopy(model.state_dict()),
        optimizers=[copy.deepcopy(opt.state_dict()) for opt in optimizers],
    )
    for x in loader:
        model(x.cuda()).sum().backward()
    model.load_state_dict(initial["model"])
    for opt, state in zip(optimizers, initial["optimizers"]):
        opt.load_state_dict(state)
    del initial
    best = copy.deepcopy(model.state_dict())  # expect: PLM015
    for x in loader:
        model(x.cuda()).sum().backward()
    return best
