import torch
from torch import nn


class Judge:
    def __init__(self, width):
        self.actor = nn.Linear(width, 4).cuda()
        self.critic = nn.Linear(width, 1).cuda()
        self.teacher = nn.Linear(width, 1).cuda()
        self.teacher.requires_grad_(False)
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()])
        self.read_alone = []
        self.differentiated = []
        self.of_teacher = []
        self.unrecorded = []

    def act(self, seen):
        self.read_alone.append(self.critic(seen))  # expect: PLM017
        # trap: the loss of the critic is computed from these
        self.differentiated.append(self.critic(seen))
        # trap: of what is frozen there is no graph
        self.of_teacher.append(self.teacher(seen))
        with torch.no_grad():
            # trap: nothing is recorded
            self.unrecorded.append(self.critic(seen))
        return self.actor(seen).argmax(-1)

    def learn(self, seen, returns):
        with torch.no_grad():
            edge = returns - torch.cat(self.read_alone)
            edge = edge + torch.cat(self.of_teacher) + torch.cat(self.unrecorded)
        loss = (self.actor(seen).max(-1).values * edge).mean()
        loss = loss + (torch.cat(self.differentiated) - returns).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.read_alone.clear()
        self.differentiated.clear()
        self.of_teacher = []
        self.unrecorded = []

    def play(self, env, rounds, length):
        for _ in range(rounds):
            seen = env.reset()
            for _ in range(length):
                seen = env.step(self.act(seen))
            self.learn(seen, env.returns())


def collect(env, net, rounds, length):
    net.cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(rounds):
        seen = env.reset()
        values, bonuses, kept = [], [], []
        for _ in range(length):
            value = net(seen)
            values.append(value)  # expect: PLM017
            bonuses.append(net(seen).square().sum(1))  # expect: PLM017
            # trap: what is computed of these is differentiated
            kept.append(value)
            seen = env.step(value.argmax(-1))
        print(len(bonuses), sum(one.item() for one in bonuses))
        returns = env.returns() + torch.stack(values).detach()
        loss = (torch.stack(kept) - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
