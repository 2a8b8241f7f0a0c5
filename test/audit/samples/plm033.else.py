import torch
from torch import nn


class Rotate(nn.Module):
    def forward(self, x, grid, losses):
        weights = [[] for _ in range(4)]
        for i in range(4):
            weights[i].extend(row(grid, i))
        # trap: filled from the grid of each batch
        table = torch.tensor(weights, device=x.device)
        # trap: hardly ever are there none
        loss = sum(losses) if len(losses) > 0 else torch.tensor(0.0, device=x.device)
        half = torch.tensor(0.5, device=x.device)  # expect: PLM033
        return x * table * half + loss
