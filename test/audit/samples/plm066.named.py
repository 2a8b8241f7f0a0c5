import torch
from agents import Agent


class Discrete(Agent):
    def __init__(self, policy, critic, lr):
        super().__init__()
        self.policy = policy
        self.critic = critic
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def policy_loss(self, states):
        odds = self.policy(states).softmax(-1)
        worth = self.critic(states)  # expect: PLM066
        return -(odds * worth).sum(-1).mean()

    def cut_policy_loss(self, states):
        odds = self.policy(states).softmax(-1)
        # trap: cut off below
        worth = self.critic(states)
        return -(odds * worth.detach()).sum(-1).mean()

    def still_policy_loss(self, states):
        odds = self.policy(states).softmax(-1)
        # trap: nothing is recorded
        with torch.no_grad():
            worth = self.critic(states)
        return -(odds * worth).sum(-1).mean()

    def critic_loss(self, states, wanted):
        # trap: it learns from this
        return (self.critic(states) - wanted).square().mean()


class Joined(Agent):
    def __init__(self, policy, critic, scale, lr):
        super().__init__()
        self.policy = policy
        self.critic = critic
        self.scale = scale
        self.optim = torch.optim.Adam([*self.policy.parameters(), *self.critic.parameters()], lr=lr)
        self.scale_optim = torch.optim.Adam(self.scale.parameters(), lr=lr)

    def policy_loss(self, states):
        # trap: one optimizer has both
        return -(self.policy(states) * self.critic(states)).mean()


class InTurns(Agent):
    def __init__(self, policy, critic, lr):
        super().__init__()
        self.policy = policy
        self.critic = critic
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def policy_loss(self, states):
        # trap: frozen around the call
        return -(self.policy(states).softmax(-1) * self.critic(states)).sum(-1).mean()

    def learn(self, states):
        for p in self.critic.parameters():
            p.requires_grad = False
        self.improve(self.policy_optim, self.policy_loss(states))
        for p in self.critic.parameters():
            p.requires_grad = True
