"""A loss on self that another method differentiates, and an optimizer of one part of a network."""

import torch


class Ranker:
    def __init__(self, net, aux, device):
        self.net = net.to(device)
        self.aux_net = aux.to(device)
        self.rank_net = aux.to(device)
        self.params = list(self.net.parameters())
        self.params += list(self.rank_net.parameters())
        self.optimizer = torch.optim.Adam(self.params)

    def optimize(self, x):
        self.forward_train(x)
        self.optimizer.zero_grad()
        self.backward_train()
        self.optimizer.step()

    def forward_train(self, x):
        self.loss = self.rank_net(self.net(x)).mean()  # trap: both are in the list
        self.loss = self.loss + self.aux_net(self.net(x)).pow(2).mean()  # expect: PLM066

    def backward_train(self):
        torch.mean(self.loss).backward()


class Agent:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.policy_optimizer = torch.optim.Adam(self.model._policy.parameters())

    def update_policy(self, states):
        self.policy_optimizer.zero_grad()
        actions = self.model.policy(states)  # trap: this part learns
        loss = -self.model.value(states, actions).mean()  # expect: PLM066
        loss.backward()
        self.policy_optimizer.step()

    def update_frozen(self, states):
        self.policy_optimizer.zero_grad()
        self.model.track_value_grad(False)
        loss = -self.model.value(states, self.model.policy(states)).mean()  # trap: switched off for this part
        loss.backward()
        self.policy_optimizer.step()
        self.model.track_value_grad(True)
