import copy

import torch

device = torch.device("cuda")


def train(model):
    model.train()
    # trap: frozen
    ema = copy.deepcopy(model)
    ema.requires_grad_(False)
    return ema
