import torch
from torch import nn


class Joining(nn.Module):
    def __init__(self, players):
        super().__init__()
        self.mix = nn.Linear(players, 1)

    def forward(self, scores, state):
        return self.mix(scores * state)


class Learner:
    def __init__(self, players, rate):
        self.players = players
        self.joining = Joining(len(players)).cuda()
        self.optimizer = torch.optim.Adam(self.joining.parameters(), lr=rate)
        self.lately = []
        self.weights = []
        self.goals = []
        self.cut = []

    def learn(self, batch):
        scores = torch.stack([player(batch["seen"]) for player in self.players], dim=1)
        joint = self.joining(scores, batch["state"])
        goal = batch["goal"] * batch["filled"]
        with torch.no_grad():
            weight = self.joining(scores, batch["next"])
        gap = joint - goal
        self.lately.append(gap)  # expect: PLM017
        # trap: no network was run for it
        self.goals.append(goal)
        # trap: without gradients
        self.weights.append(weight)
        # trap: cut off
        cut = gap.detach() ** 2
        self.cut.append(cut)
        for kept in (self.lately, self.weights, self.goals, self.cut):
            if len(kept) > 40:
                kept.pop(0)
        loss = (weight * gap**2 * cut).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def fit(players, batches):
    learner = Learner(players, 1e-3)
    for batch in batches:
        learner.learn(batch)
