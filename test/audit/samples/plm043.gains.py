import numpy as np
import torch


class Player:
    def __init__(self, gamma, device):
        self.gamma = gamma
        self.device = device
        self.gains = []
        self.kept = []
        self.mixed = []

    def ahead(self, rewards):
        found = []
        total = 0
        for reward in reversed(rewards):
            total = reward + total * self.gamma
            found.append(total)
        return list(reversed(found))

    def play(self, episodes):
        for rewards in episodes:
            self.gains.extend(self.ahead(rewards))
            self.kept.extend(self.ahead(rewards))
            self.mixed.extend(self.ahead(rewards))
            self.mixed.append(torch.zeros(1))

    def update(self, rewards):
        gains = torch.from_numpy(np.array(self.gains)).to(self.device)  # expect: PLM043
        ahead = self.ahead(rewards)
        last = torch.from_numpy(np.array(ahead)).to(self.device)  # expect: PLM043
        # trap: a list of Python's numbers becomes float32 by itself
        plain = torch.tensor(self.ahead(rewards), device=self.device)
        # trap: made float32 on the way
        narrow = torch.from_numpy(np.array(self.kept, dtype=np.float32)).to(self.device)
        # trap: something else is put there as well
        other = torch.from_numpy(np.array(self.mixed)).to(self.device)
        return gains, last, plain, narrow, other


class Workers:
    def __init__(self, player, device):
        self.player = player
        self.device = device

    def collect(self, episodes):
        self.gains = [dict()]
        self.seen = [dict()]
        for worker, rewards in enumerate(episodes):
            self.work(worker, rewards)
        self.gains = torch.from_numpy(np.array(self.gains)).to(self.device).float()  # expect: PLM043
        # trap: nobody here says what is seen
        self.seen = torch.from_numpy(np.array(self.seen)).to(self.device).float()

    def work(self, worker, rewards):
        gains = []
        gains.extend(self.ahead(rewards))
        self.gains[0][worker] = gains
        self.seen[0][worker] = rewards

    def ahead(self, rewards):
        found = []
        total = 0
        for reward in rewards[::-1]:
            total = reward + total * self.discount
            found.insert(0, total)
        return found
