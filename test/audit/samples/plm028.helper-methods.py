# What the forward of a network hands to its other methods, and to functions beside it, is where the network is.
import torch
from torch import nn


def gather_valid(scores, keep):
    weights = torch.softmax(scores, dim=-1)
    return weights[keep.view(-1) > 0]  # expect: PLM028


def chosen_rows(table, rows):
    return [table[row] for row in rows]  # trap: nothing says that these are tensors


class Pooling(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def pool(self, states, mask=None):
        states = self.project(states.permute(1, 0, 2))
        if mask is not None:
            mask = mask.unsqueeze(-1) > 0
            states = states[mask.squeeze(-1)]  # expect: PLM028
        return states

    def set_mask(self, table, mask):
        self.rows = table.view(-1)[mask.view(-1) > 0]  # trap: a network is filled with what the host has

    def forward(self, states, mask, rows):
        pooled = self.pool(states, mask)
        chosen_rows(self.names, rows)
        return gather_valid(pooled, mask)


def main(loader):
    network = Pooling(64).cuda()
    optimizer = torch.optim.AdamW(network.parameters())
    for states, mask, rows in loader:
        loss = network(states.cuda(), mask.cuda(), rows).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
