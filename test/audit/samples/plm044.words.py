import torch
from einops import einsum
from torch import nn


class Reading(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.heads = heads

    def forward(self, x):
        q, k, v = self.project(x.cuda()).unflatten(-1, (3, self.heads, -1)).unbind(-3)
        near = einsum(q, k, "batch place heads dim, batch other heads dim -> batch heads place other")
        weights = torch.softmax(near * q.shape[-1] ** -0.5, dim=-1)  # expect: PLM044
        return einsum(weights, v, "batch heads place other, batch other heads dim -> batch place heads dim")


class Routed(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(width, experts))
        self.values = nn.Parameter(torch.zeros(experts, width))

    def forward(self, x):
        # trap: a layer, not each place with each
        chosen = einsum(x.cuda(), self.gate, "batch place width, width experts -> batch place experts")
        weights = torch.softmax(chosen, dim=-1)
        return einsum(weights, self.values, "batch place experts, experts width -> batch place width")
