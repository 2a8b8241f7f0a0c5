"""Target networks and teachers that are asked the same several times before the batch is done with."""

import copy

import torch
from torch.nn import functional as F


class Agent:
    def __init__(self, actor, critic):
        self.actor = actor.cuda()
        self.actor_target = copy.deepcopy(self.actor)
        self.critic = critic.cuda()
        self.critic_target = copy.deepcopy(self.critic)
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def train(self, replay, gamma):
        state, action, after, reward = replay.sample(256)
        for _ in range(4):
            with torch.no_grad():
                chosen = self.actor_target(after)  # expect: PLM080
                wanted = reward + gamma * self.critic_target(after, chosen)  # likely: PLM080
            loss = F.mse_loss(self.critic(state, action), wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.follow()

    def eagerly(self, replay, gamma):
        state, action, after, reward = replay.sample(256)
        for _ in range(4):
            with torch.no_grad():
                # trap: it follows in each turn
                wanted = reward + gamma * self.critic_target(after, action)
            loss = F.mse_loss(self.critic(state, action), wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.update_targets()

    def anew(self, replay, gamma):
        for _ in range(4):
            state, action, after, reward = replay.sample(256)
            with torch.no_grad():
                # trap: another batch
                wanted = reward + gamma * self.critic_target(after, action)
            loss = F.mse_loss(self.critic(state, action), wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def follow(self):
        for ours, theirs in zip(self.critic_target.parameters(), self.critic.parameters()):
            ours.data.lerp_(theirs.data, 0.005)

    update_targets = follow

    def load(self, path):
        self.critic.load_state_dict(torch.load(path, map_location="cpu"))
        self.critic_target = copy.deepcopy(self.critic)


def distill(student, model_t, loader, optimizer):
    model_t.eval()
    for x, y in loader:
        x, loss = x.cuda(), 0.0
        for _ in range(3):
            # trap: another input in each turn
            ours = student(x + 0.05 * torch.randn_like(x))
            with torch.no_grad():
                theirs = model_t(x)  # likely: PLM080
            loss = loss + F.kl_div(ours.log_softmax(1), theirs.softmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
