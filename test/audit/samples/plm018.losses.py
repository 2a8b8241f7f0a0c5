import torch
import torch.nn.functional as F


class Policy:
    def __init__(self, network):
        self.network = network
        self.margin = 0.0
        self.clean = 0.0
        self.length = 0.0

    def loss(self, chosen, rejected):
        margin = self.network(chosen).mean(-1) - self.network(rejected).mean(-1)
        self.margin = 0.99 * self.margin + 0.01 * margin.mean()  # expect: PLM018
        # trap: cut off
        self.clean = 0.99 * self.clean + 0.01 * margin.detach().mean()
        # trap: a number
        self.length = 0.99 * self.length + 0.01 * chosen.size(-1)
        return -F.logsigmoid(margin).mean()

    @torch.no_grad()
    def judged_loss(self, chosen, rejected):
        margin = self.network(chosen).mean(-1) - self.network(rejected).mean(-1)
        # trap: no graph here
        self.margin = 0.9 * self.margin + 0.1 * margin.mean()
        return margin.mean()


def train(policy, network, loader, optimizer):
    policy = Policy(network.cuda())
    for chosen, rejected in loader:
        loss = policy.loss(chosen.cuda(), rejected.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
