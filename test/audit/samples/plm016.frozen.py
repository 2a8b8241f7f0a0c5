import copy

import torch

device = torch.device("cuda")


def train(model):
    model.train()
    ema = copy.deepcopy(model)  # expect: PLM016
    ema.requires_grad_(False)
    # trap: frozen, and on the host
    reference = copy.deepcopy(model).cpu().requires_grad_(False)
    return ema, reference
