"""Written in this forward before it is read, or cut off by who acts: nothing comes from the one before."""

import torch
from torch import nn


class Pooled(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        self.assign = nn.ModuleList(nn.Linear(width, width) for _ in range(levels))
        self.embed = nn.Linear(width, width)
        self.assign_tensor = None

    def forward(self, x, adj):
        for layer in self.assign:
            self.assign_tensor = layer(adj @ x)
            x = torch.matmul(self.assign_tensor.transpose(0, 1), self.embed(x))
        return x


class Acting:
    def __init__(self, policy):
        self.policy = policy.cuda()
        self.hidden = None

    def act(self, obs):
        with torch.no_grad():
            action, self.hidden = self.policy.sample(obs, self.hidden)
        return action.item()

    def explore(self, obs):
        action, hidden = self.policy.sample(obs, self.hidden)
        self.hidden = hidden.detach()
        return action.item()
