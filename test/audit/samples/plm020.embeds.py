import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def embed(self, states):
        return self.second(F.elu(self.first(states)))

    def measure(self, states):
        return states.norm()


def train(width, loader):
    encoder = Encoder(width).cuda()
    target_encoder = copy.deepcopy(encoder)
    optimizer = torch.optim.Adam(encoder.parameters(), fused=True)
    for states, following in loader:
        wanted = target_encoder.embed(following)  # expect: PLM020
        loss = F.mse_loss(encoder.embed(states), wanted)
        # trap: it runs no layers
        loss = loss + 0 * target_encoder.measure(following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            # trap: nothing is recorded
            print(target_encoder.embed(states).shape)
