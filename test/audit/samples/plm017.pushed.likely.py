"""What an agent did is handed to a memory as it is, and cut off only for the game."""

import random

import torch


class Memory:
    def __init__(self, size):
        self.size = size
        self.rows = []
        self.at = 0

    def push(self, seen, action, gain):
        if len(self.rows) < self.size:
            self.rows.append(None)
        self.rows[self.at] = (seen, action, gain)
        self.at = (self.at + 1) % self.size

    def sample(self, n):
        return zip(*random.sample(self.rows, n))


class Agent:
    def __init__(self, policy, critic):
        self.policy, self.critic = policy.cuda(), critic.cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters())

    def act(self, seen):
        action, _ = self.policy.sample(torch.as_tensor(seen).cuda())
        return action[0]

    @torch.no_grad()
    def choose_action(self, seen):
        action, _ = self.policy.sample(torch.as_tensor(seen).cuda())
        return action[0]

    def learn(self, memory):
        seen, action, gain = memory.sample(64)
        loss = -self.critic(torch.stack(seen), self.policy(torch.stack(seen))).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def play(env, agent, games):
    memory = Memory(100000)
    for _ in range(games):
        seen, done = env.reset(), False
        while not done:
            action = agent.act(seen)
            seen, gain, done, _ = env.step(action.detach().cpu().numpy())
            memory.push(seen, action, gain)  # likely: PLM017
            agent.learn(memory)


def play_cut(env, agent, games):
    memory = Memory(100000)
    for _ in range(games):
        seen, done = env.reset(), False
        while not done:
            action = agent.act(seen)
            seen, gain, done, _ = env.step(action.detach().cpu().numpy())
            # trap: cut off
            memory.push(seen, action.detach(), gain)
            agent.learn(memory)


def play_freely(env, agent, games):
    memory = Memory(100000)
    for _ in range(games):
        seen, done = env.reset(), False
        while not done:
            action = agent.choose_action(seen)
            seen, gain, done, _ = env.step(action.detach().cpu().numpy())
            # trap: nothing is recorded
            memory.push(seen, action, gain)
            agent.learn(memory)
