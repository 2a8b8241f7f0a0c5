import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.encoder = model
        self.old = copy.deepcopy(model)
        # trap: a module that is being made is on the host
        self.pretrained = copy.deepcopy(model.state_dict())

    def update(self):
        # trap: copied into other weights, and gone
        self.old.load_state_dict(copy.deepcopy(self.encoder.state_dict()))


def train(model, loader, optimizer, device):
    best = None
    for epoch in range(3):
        for x, y in loader:
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
            optimizer.zero_grad()
        best = copy.deepcopy(model.state_dict())  # expect: PLM015
    return best
