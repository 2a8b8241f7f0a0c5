import numpy as np
import torch


class Learner:
    def __init__(self, net, envs, optimizer):
        self.device = torch.device("cuda")
        self.net = net.to(self.device)
        self.envs = envs
        self.optimizer = optimizer

    def fit(self, rounds):
        seen, gains, lasts = self.rollout()
        for _ in range(rounds):
            self.update(seen, gains)
            # trap: cast on the way
            lasts = lasts.float()
            self.other(lasts, gains)
            self.other(lasts, seen)
            seen, gains, lasts = self.rollout()

    def rollout(self):
        seen = torch.zeros([128, 8])
        gains = np.zeros([128, 1])
        lasts = np.zeros([128, 1])
        for t in range(128):
            row, reward = self.envs.step()
            seen[t] = torch.from_numpy(row)
            gains[t] = reward
        return seen, torch.from_numpy(gains).view(-1, 1), torch.from_numpy(lasts)

    def update(self, seen, gains):
        for rows in torch.randperm(128).view(-1, 32).tolist():
            aim = gains[rows].to(self.device)  # expect: PLM043
            loss = (self.net(seen[rows].to(self.device)) - aim).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def other(self, lasts, either):
        first = lasts[0].to(self.device)
        # trap: given one or the other
        second = either[0].to(self.device)
        return first + second
