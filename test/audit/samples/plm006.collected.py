import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal


class Agent(nn.Module):
    def __init__(self, width, moves):
        super().__init__()
        self.core = nn.GRU(width, 64)
        self.policy = nn.Linear(64, moves)
        self.value = nn.Linear(64, 1)

    def forward(self, seen, state):
        out, state = self.core(seen, state)
        return self.policy(out), self.value(out), state


def train(env, rounds, length):
    agent = Agent(8, 4).cuda()
    optimizer = torch.optim.Adam(agent.parameters())
    state = torch.zeros(1, 1, 64).cuda()
    seen = env.reset()
    for _ in range(rounds):
        begin = state.detach().clone()
        kept = []
        for _ in range(length):
            logits, value, state = agent(seen, state)  # expect: PLM006
            policy = Categorical(logits=logits)
            action = policy.sample()
            kept.append((seen, action, policy.log_prob(action).detach(), value.detach()))
            seen, gain, done, _ = env.step(action.item())
        with torch.no_grad():
            _, last, _ = agent(seen, state)
        loss = agent(kept[0][0], begin)[1].mean() - last
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def through_time(env, rounds, length):
    agent = Agent(8, 4).cuda()
    optimizer = torch.optim.Adam(agent.parameters())
    seen = env.reset()
    for _ in range(rounds):
        state = torch.zeros(1, 1, 64).cuda()
        logps, values = [], []
        for _ in range(length):
            # trap: what it collects is differentiated, through all of its turns
            logits, value, state = agent(seen, state)
            policy = Categorical(logits=logits)
            action = policy.sample()
            logps.append(policy.log_prob(action))
            values.append(value)
            seen, gain, done, _ = env.step(action.item())
        loss = -(torch.stack(logps) * torch.stack(values)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def to_the_end(env, rounds, length):
    agent = Agent(8, 4).cuda()
    head = nn.Linear(64, 1).cuda()
    optimizer = torch.optim.Adam(agent.parameters())
    seen = env.reset()
    for _ in range(rounds):
        state = torch.zeros(1, 1, 64).cuda()
        for _ in range(length):
            # trap: the last state is what the loss is computed from
            logits, value, state = agent(seen, state)
            action = logits.argmax(-1)
            seen, gain, done, _ = env.step(action.item())
        loss = head(state).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Quiet(nn.Module):
    def __init__(self, width, moves):
        super().__init__()
        self.core = nn.GRU(width, moves)

    def forward(self, seen, state):
        return self.core(seen, state)

    @torch.no_grad()
    def act(self, seen, state):
        out, state = self.core(seen, state)
        return out.argmax(-1), out.max(), state


def without_recording(env, rounds, length):
    quiet = Quiet(8, 4).cuda()
    optimizer = torch.optim.Adam(quiet.parameters())
    state = torch.zeros(1, 1, 4).cuda()
    seen = env.reset()
    for _ in range(rounds):
        for _ in range(length):
            # trap: acting records nothing
            action, best, state = quiet.act(seen, state)
            seen, gain, done, _ = env.step(action.item())
            print(best.item())
        loss = quiet(seen, None)[0].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Arm:
    def __init__(self, width, moves):
        self.actor = Agent(width, moves).cuda()
        self.optimizer = torch.optim.Adam(self.actor.parameters())
        self.hidden = None
        self.memory = None

    def choose_action(self, seen, greedy=False):
        centre, spread, self.hidden = self.actor(seen, self.hidden)  # expect: PLM006
        if greedy:
            chosen = centre.cpu().detach().numpy()
        else:
            chosen = Normal(centre, spread.exp()).sample().cpu().numpy()
        return np.clip(chosen[0], -1, 1)

    def get_action(self, seen):
        # What it hands out, the step differentiates: it is not kept in vain, but fails at the second step.
        centre, spread, self.memory = self.actor(seen, self.memory)  # likely: PLM006
        chosen = Normal(centre, spread.exp()).rsample()
        return chosen

    def learn(self, seen):
        loss = -self.get_action(seen).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train_copied(env, rounds, length):
    agent = Agent(8, 4).cuda()
    optimizer = torch.optim.Adam(agent.parameters())
    state = torch.zeros(1, 1, 64).cuda()
    seen = env.reset()
    for _ in range(rounds):
        begin = state.clone().detach()
        kept = []
        for _ in range(length):
            logits, value, state = agent(seen, state)  # expect: PLM006
            action = Categorical(logits=logits).sample()
            kept.append((seen, value.flatten().detach()))
            seen, gain, done, _ = env.step(action.item())
        loss = agent(kept[0][0], begin)[1].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
