from collections import deque

import torch
from torch.nn import functional as F


class Actor:
    def __init__(self, policy, judge, device):
        self.policy = policy.to(device)
        self.judge = judge.to(device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-4)
        self.recent = deque(maxlen=5000)
        self.ring = [None] * 128
        self.seen = deque(maxlen=5000)
        self.old = deque(maxlen=5000)
        self.steps = 0

    def improve(self, replay):
        self.steps += 1
        states, weights = replay.draw(32)
        with torch.no_grad():
            before, before_log = self.policy.draw(states)
        actions, log_probs = self.policy.draw(states)
        self.recent.append(log_probs)  # expect: PLM017
        self.ring[self.steps % 128] = actions  # expect: PLM017
        self.seen.append(weights)  # trap: data of the replay
        self.old.append(before_log)  # trap: without gradients
        loss = (weights * log_probs - before_log - self.judge(states, actions)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
