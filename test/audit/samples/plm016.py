import copy

import torch

device = torch.device("cuda")


def train(model, layers):
    model.train()
    ema = copy.deepcopy(model)  # expect: PLM016
    # trap: no network, as far as anyone knows
    ref_layers = copy.deepcopy(layers)
    # trap: no reference
    clone = copy.deepcopy(model)
    return ema, ref_layers, clone
