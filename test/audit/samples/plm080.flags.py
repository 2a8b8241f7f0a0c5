import copy

import torch
import torch.nn.functional as F


class Agent:
    def __init__(self, actor, critic, optimizer, device):
        self.actor, self.critic, self.optimizer = actor, critic, optimizer
        self.prior = copy.deepcopy(actor)
        self.prior.requires_grad_(False)
        # It learns slowly.
        self.target = copy.deepcopy(critic)
        self.anchors = torch.randn(256, 8, device=device)
        self.wanted = torch.randn(256, 8, device=device, requires_grad=True)
        self.turns = 0

    def update(self, states):
        self.turns += 1
        loss = -self.critic(states, self.actor(states)).mean()
        if self.turns % 2 == 0:
            loss = loss + F.mse_loss(self.actor(self.anchors), self.prior(self.anchors))  # expect: PLM080
            # trap: what it is given learns
            loss = loss + self.prior(self.wanted).mean()
            # trap: it learns itself
            loss = loss + self.actor(self.anchors).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def train(actor, critic, optimizer, loader, device):
    agent = Agent(actor, critic, optimizer, device)
    for states in loader:
        agent.update(states.to(device))


def learn(net, teacher, graph, batch, optimizer):
    with torch.no_grad():
        wanted = teacher(graph.x, graph.edges)  # expect: PLM080
        # trap: another in each turn
        other = teacher(batch.x, batch.edges)
    loss = F.mse_loss(net(graph.x, graph.edges), wanted) + F.mse_loss(net(batch.x, batch.edges), other)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(net, teacher, graph, batches, optimizer):
    teacher.eval()
    teacher.requires_grad_(False)
    for batch in batches:
        learn(net, teacher, graph, batch, optimizer)
