"""Memories of agents that play, with those of finished episodes set to zero."""

import torch


class Player:
    def __init__(self, env, network, frames, width):
        self.env = env
        self.network = network
        self.frames = frames
        self.seen = env.reset()
        self.carry = torch.zeros(env.count, width, device="cuda")
        self.carries = torch.zeros(frames, env.count, width, device="cuda")
        self.values = torch.zeros(frames, env.count, device="cuda")
        self.alive = torch.ones(env.count, 1, device="cuda")

    def collect_experiences(self):
        for i in range(self.frames):
            policy, value, after = self.network(self.seen, self.carry * self.alive)  # expect: PLM006
            action = policy.sample()
            self.seen, reward, done = self.env.step(action.cpu().numpy())
            self.carries[i] = self.carry.detach()
            self.carry = after
            self.values[i] = value.detach()
        return self.carries, self.values


class Cutter:
    def __init__(self, env, network, frames, width):
        self.env = env
        self.network = network
        self.frames = frames
        self.seen = env.reset()
        self.hidden = torch.zeros(env.count, width, device="cuda")
        self.rows = []
        self.alive = torch.ones(env.count, 1, device="cuda")

    def collect_experiences(self):
        for i in range(self.frames):
            # trap: cut off below, besides the copy
            policy, value, after = self.network(self.seen, self.hidden * self.alive)
            action = policy.sample()
            self.seen, reward, done = self.env.step(action.cpu().numpy())
            self.rows.append(self.hidden.detach())
            self.hidden = after
            self.hidden = self.hidden.detach()
        return self.rows
