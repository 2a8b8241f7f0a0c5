import torch
from torch import nn


class Apart:
    def __init__(self, width):
        self.actor = nn.Linear(width, 4).cuda()
        self.critic = nn.Linear(width, 1).cuda()
        self.body = nn.Linear(width, width).cuda()
        self.judge = nn.Sequential(self.body, nn.Linear(width, 1)).cuda()
        self.target = nn.Linear(width, 1).cuda()
        self.actor_optimizer = torch.optim.Adam([*self.actor.parameters(), *self.body.parameters()])
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def act_better(self, seen, edge):
        loss = -(self.actor(self.body(seen)).max(-1).values * edge).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()

    def judge_better(self, seen, returns):
        loss = (self.critic(seen) - returns).square().mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()

    def follow(self):
        for old, new in zip(self.target.parameters(), self.critic.parameters()):
            old.data.lerp_(new.data, 0.01)

    def update(self, seen, returns, rounds):
        for _ in range(rounds):
            with torch.no_grad():
                edge = returns - self.critic(seen)  # expect: PLM080
            self.act_better(seen, edge)
        for _ in range(rounds):
            self.judge_better(seen, returns)

    def both(self, seen, returns, rounds):
        for _ in range(rounds):
            with torch.no_grad():
                # trap: the critic learns in this loop too
                edge = returns - self.critic(seen)
            self.act_better(seen, edge)
            self.judge_better(seen, returns)

    def shared(self, seen, returns, rounds):
        for _ in range(rounds):
            with torch.no_grad():
                # trap: a part of it is the actor's, which learns
                edge = returns - self.judge(seen)
            self.act_better(seen, edge)

    def followed(self, seen, returns, rounds):
        for _ in range(rounds):
            with torch.no_grad():
                # trap: it gets other weights in every turn
                edge = returns - self.target(seen)
            self.act_better(seen, edge)
            self.follow()


def alone(seen, returns, width, rounds):
    actor = nn.Linear(width, 4).cuda()
    critic = nn.Linear(width, 1).cuda()
    optimizer = torch.optim.Adam(actor.parameters())
    other = torch.optim.Adam(critic.parameters())
    for _ in range(rounds):
        with torch.no_grad():
            edge = returns - critic(seen)  # expect: PLM080
        optimizer.zero_grad()
        (-(actor(seen).max(-1).values * edge).mean()).backward()
        optimizer.step()
    for _ in range(rounds):
        other.zero_grad()
        (critic(seen) - returns).square().mean().backward()
        other.step()


def together(seen, returns, width, rounds):
    actor = nn.Linear(width, 4).cuda()
    critic = nn.Linear(width, 1).cuda()
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, weight_decay=0.1)
    for _ in range(rounds):
        with torch.no_grad():
            # trap: one optimizer steps both
            edge = returns - critic(seen)
        optimizer.zero_grad()
        (-(actor(seen).max(-1).values * edge).mean()).backward()
        optimizer.step()


class Curiosity(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.guess = nn.Linear(width, 32)
        self.riddle = nn.Linear(width, 32)
        self.riddle.requires_grad_(False)


def study(views, width, size):
    curiosity = Curiosity(width).cuda()
    optimizer = torch.optim.Adam(curiosity.guess.parameters())
    for places in torch.randperm(len(views)).split(size):
        wanted = curiosity.riddle(views)[places]  # expect: PLM080
        # trap: of each batch its own
        again = curiosity.riddle(views[places])
        # trap: this part learns
        every = curiosity.guess(views)
        loss = (every[places] - wanted - again).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
