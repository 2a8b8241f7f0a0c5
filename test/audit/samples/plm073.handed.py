import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def get_log_prob(self, x, actions):
        return Normal(x, torch.ones_like(x)).log_prob(actions).sum(1)  # expect: PLM073

    def draw_sample(self, x):
        # trap: nobody runs it in a step
        return Normal(x, torch.ones_like(x)).sample()


def ppo_step(policy_net, optimizer, states, actions, advantages):
    ratio = torch.exp(policy_net.get_log_prob(states.cuda(), actions.cuda()))
    loss = -(ratio * advantages.cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(policy_net, optimizer, batches):
    for states, actions, advantages in batches:
        ppo_step(policy_net, optimizer, states, actions, advantages)
