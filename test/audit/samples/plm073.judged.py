import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def evaluate_actions_of(self, x, actions):
        return Normal(x, torch.ones_like(x)).log_prob(actions).sum(1)  # expect: PLM073

    def evaluate_all_of(self, x, actions):
        # trap: after an epoch
        return Normal(x, torch.ones_like(x)).log_prob(actions).sum(1)

    def evaluate_some_of(self, x, actions):
        # trap: now and then
        return Normal(x, torch.ones_like(x)).log_prob(actions).sum(1)


def train(policy_net, optimizer, batches, held, epochs):
    for _ in range(epochs):
        for step, (states, actions, gains) in enumerate(batches):
            chances = policy_net.evaluate_actions_of(states.cuda(), actions.cuda())
            loss = -(chances * gains.cuda()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 500 == 0:
                print(policy_net.evaluate_some_of(*held))
        print(policy_net.evaluate_all_of(*held))
