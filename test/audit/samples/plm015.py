import copy
from copy import deepcopy

import torch

device = torch.device("cuda")


def train(model, optimizer, config, epochs):
    model.to(device)
    best = copy.deepcopy(model.state_dict())  # expect: PLM015
    for _ in range(epochs):
        best = deepcopy(model.state_dict())  # expect: PLM015
    # trap: not a tensor in it
    settings = copy.deepcopy(config)
    # trap: an optimizer's state
    state = copy.deepcopy(optimizer.state_dict())
    # trap: on the host already
    host = copy.deepcopy(model.cpu().state_dict())
    return best, settings, state, host
