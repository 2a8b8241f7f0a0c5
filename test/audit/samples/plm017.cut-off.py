import torch
from torch import nn
from torch.distributions import Categorical


class Actor(nn.Module):
    def __init__(self, width, actions):
        super().__init__()
        self.head = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)

    def act(self, state):
        dist = Categorical(logits=self.head(state))
        action = dist.sample()
        logp = dist.log_prob(action)
        return action, logp, self.value(state).detach()


class Agent:
    def __init__(self, width, actions, buffer):
        self.actor = Actor(width, actions).cuda()
        self.buffer = buffer
        self.optimizer = torch.optim.Adam(self.actor.parameters())

    def explore(self, state):
        action, logp, value = self.actor.act(state)
        self.buffer.logps.append(logp)  # expect: PLM017
        # trap: the network cuts it off itself
        self.buffer.values.append(value)
        return action

    @torch.no_grad()
    def play(self, state):
        action, logp, value = self.actor.act(state)
        # trap: no graph here
        self.buffer.played.append(logp)
        return action

    def learn(self, state, returns):
        action, logp, value = self.actor.act(state)
        # trap: differentiated below
        self.buffer.wanted.append(logp)
        old = torch.stack(self.buffer.logps).detach()
        played = torch.stack(self.buffer.played).detach()
        values = torch.stack(self.buffer.values).detach()
        loss = ((torch.stack(self.buffer.wanted) - old - played) * (returns - values)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.buffer.clear()


class Runner:
    def __init__(self, env, agent):
        self.env = env
        self.agent = agent.cuda()
        self.history = []
        self.clean = []

    def play(self, steps):
        values = []
        for _ in range(steps):
            policy, value = self.agent(self.env.state)
            values.append(value.detach())
            self.history.append(value)  # expect: PLM017
            # trap: cut off here, too
            self.clean.append(value.detach())
            self.env.step(policy)
        return values
