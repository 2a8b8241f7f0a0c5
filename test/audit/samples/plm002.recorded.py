import random
from collections import deque, namedtuple

import torch
from torch import nn
from torch.nn import functional as F

device = torch.device("cuda")
Turn = namedtuple("Turn", ("view", "move", "worth", "gain"))


class Recall:
    def __init__(self, size):
        self.turns = deque([], maxlen=size)

    def push(self, *parts):
        self.turns.append(Turn(*parts))


class Ring:
    def __init__(self, size):
        self.turns = [None] * size
        self.place = 0

    def push(self, *parts):
        self.turns[self.place] = Turn(*parts)
        self.place = (self.place + 1) % len(self.turns)


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 64)
        self.worth = nn.Linear(64, 1)

    def forward(self, view):
        return self.worth(F.relu(self.body(view)))


player = Player().to(device)
optimizer = torch.optim.Adam(player.parameters(), lr=1e-3)
recall = Recall(10000)
ring = Ring(10000)


def learn():
    turns = Turn(*zip(*random.sample(recall.turns, 64)))
    loss = F.mse_loss(player(torch.cat(turns.view)), torch.cat(turns.worth).detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def play(game, games):
    for _ in range(games):
        view = game.reset().to(device)
        while not game.over:
            worth = player(view)
            move = worth.argmax().item()
            gain = game.turn(move)
            recall.push(view, move, worth, gain)  # expect: PLM002
            ring.push(view, move, worth, gain)  # expect: PLM002
            # trap: cut off
            recall.push(view, move, worth.detach(), gain)
            with torch.no_grad():
                guess = player(view)
            # trap: made without a graph
            recall.push(view, move, guess, gain)
            view = game.view().to(device)
            learn()
