from abc import ABC, abstractmethod

import torch
from torch import nn


class Player(ABC):
    @abstractmethod
    def learn_from(self, loss):
        pass

    @abstractmethod
    def note(self, loss):
        pass

    @abstractmethod
    def weigh(self, states):
        pass


class SmallPlayer(Player):
    def __init__(self, width):
        self.net = nn.Linear(width, 2).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.seen = []

    def weigh(self, states):
        return self.net(states)

    def note(self, loss):
        self.seen.append(loss)

    def learn_from(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Match:
    def __init__(self, player: Player, rounds):
        self.player = player
        self.rounds = rounds

    def play(self):
        for number, part in enumerate(self.rounds):
            loss = self.judge(part)
            self.player.learn_from(loss)
            print(f"round {number}: {loss:.3f}")  # expect: PLM026

    def watch(self, table):
        for part in self.rounds:
            loss = table.look_up(part)
            # trap: what it is handed to takes no step
            self.player.note(loss)
            print(f"seen: {loss:.3f}")

    def judge(self, part):
        states, worth = part
        return -(self.player.weigh(states) * worth).mean()
