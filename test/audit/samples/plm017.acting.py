from collections import deque

import torch
from torch.optim import Adam

from networks import Policy


class Agent:
    def __init__(self, width):
        self.policy = Policy(width)
        self.optimizer = Adam(self.policy.parameters(), lr=1e-3)
        self.recent = deque(maxlen=10000)
        self.logps = []
        self.values = []
        self.shown = []

    def select_action(self, state, evaluate=False):
        state = torch.as_tensor(state).unsqueeze(0)
        if evaluate is False:
            action, _, _ = self.policy.sample(state)
        else:
            _, _, action = self.policy.sample(state)
        self.recent.append(action)  # likely: PLM017
        return action.detach().cpu().numpy()[0]

    def act(self, state):
        action, logp, value, spread = self.policy(state)
        # trap: the update differentiates it
        self.values.append(value)
        self.shown += [spread]  # likely: PLM017
        # trap: cut off where it is kept
        self.logps.append(logp.detach())
        return action.detach(), logp.detach(), value.detach(), spread.detach().mean()

    @torch.no_grad()
    def get_action(self, state):
        action, _, _ = self.policy.sample(state)
        # trap: nothing is recorded
        self.recent.append(action)
        return action.detach()

    def spread(self):
        return torch.cat(list(self.recent)).std(dim=0).detach(), torch.stack(self.shown).detach()

    def update(self, returns):
        values = torch.stack(self.values)
        loss = (returns - values).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.values = []


class Collecting:
    def __init__(self, policy):
        self.policy = policy
        self.log_probs = []

    def act(self, state):
        action, logp = self.policy(state)
        # trap: nobody here reads it, and another file may differentiate it
        self.log_probs.append(logp)
        return action, logp.detach()
