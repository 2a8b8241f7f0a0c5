"""Losses of a comprehension whose inner clause runs the network."""

import torch
from torch import nn
from torch.nn import functional as F


class Agent:
    def __init__(self, width):
        self.critic = nn.Linear(width, 2).cuda()
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def learn(self, states, wanted, size):
        loss = sum(
            [  # expect: PLM005
                F.mse_loss(q, wanted[at : at + 64])
                for at in range(0, size, 64)
                for q in self.critic(states[at : at + 64])
            ]
        )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def learn_whole(self, states, wanted):
        # trap: all of one run
        loss = sum([F.mse_loss(q, wanted) for q in self.critic(states)])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
