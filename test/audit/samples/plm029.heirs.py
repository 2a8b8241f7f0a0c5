from abc import ABC, abstractmethod

import torch
import wandb
from torch import nn


class Player(ABC):
    @abstractmethod
    def learn_from(self, loss):
        pass

    @abstractmethod
    def weigh(self, states):
        pass


class SmallPlayer(Player):
    def __init__(self, width):
        self.net = nn.Linear(width, 2).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def weigh(self, states):
        return self.net(states)

    def learn_from(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Match:
    def __init__(self, player: Player, rounds):
        self.player = player
        self.rounds = rounds

    def play(self):
        for part in self.rounds:
            loss = self.judge(part)
            self.player.learn_from(loss)
        self.sum_up(self.rounds[0])

    def judge(self, part):
        states, worth = part
        move_loss = -self.player.weigh(states) * worth
        rest_loss = self.player.weigh(states) ** 2
        wandb.log({"move": move_loss.mean().item(), "rest": rest_loss.mean().item()})  # expect: PLM029
        return (move_loss + rest_loss).mean()

    def sum_up(self, part):
        states, worth = part
        move_loss = -self.player.weigh(states) * worth
        rest_loss = self.player.weigh(states) ** 2
        # trap: once, at the end
        wandb.log({"move": move_loss.mean().item(), "rest": rest_loss.mean().item()})
