"""Networks behind a loss that another one's optimizer steps for: by methods, helpers and keys."""

import torch
import torch.nn.functional as F


class Duel:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor.cuda(), critic.cuda()
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def goal(self, states):
        worth = self.critic(states, self.actor(states))  # expect: PLM066
        return -worth.mean()

    def error(self, states, actions, wanted):
        # trap: its own loss
        return F.mse_loss(self.critic(states, actions), wanted)

    def entropy(self, states):
        with torch.no_grad():
            # trap: nothing is recorded
            worth = self.critic(states, self.actor(states))
        return (self.actor(states).log() * worth).mean()

    def held(self, states):
        self.critic.requires_grad_(False)
        # trap: switched off for this part
        worth = self.critic(states, self.actor(states)).mean()
        self.critic.requires_grad_(True)
        return -worth

    def descend(self, loss, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def update(self, batches):
        for states, actions, wanted in batches:
            self.descend(self.error(states, actions, wanted), self.critic_opt)
            self.descend(self.goal(states), self.actor_opt)
            self.descend(self.entropy(states), self.actor_opt)
            self.descend(self.held(states), self.actor_opt)


class Keyed:
    def __init__(self, nets):
        self.nets = nets
        self.optims = {}
        for name, net in self.nets.items():
            self.optims[name] = torch.optim.Adam(net.cuda().parameters())

    def train(self, loader):
        for x in loader:
            with torch.no_grad():
                made = self.nets["maker"](x)
            # trap: the judge learns from this
            gap = self.nets["judge"](made).mean() - self.nets["judge"](x).mean()
            self.optims["judge"].zero_grad()
            gap.backward()
            self.optims["judge"].step()
            loss = -self.nets["judge"](self.nets["maker"](x)).mean()  # expect: PLM066
            self.optims["maker"].zero_grad()
            loss.backward()
            self.optims["maker"].step()


class Together:
    def __init__(self, nets):
        self.nets = nets
        self.optims = {"both": torch.optim.Adam([*nets["a"].parameters(), *nets["b"].parameters()])}

    def train(self, loader):
        for x in loader:
            # trap: one optimizer has both
            loss = self.nets["b"](self.nets["a"](x)).mean()
            self.optims["both"].zero_grad()
            loss.backward()
            self.optims["both"].step()


def fooled(judges, x, made):
    return sum((judge(made) - judge(x)).abs().mean() for judge in judges)


def told(first, second, x, made):
    return fooled((first, second), x, made)


def train(maker, coarse, fine, loader):
    make_opt = torch.optim.Adam(maker.parameters())
    judge_opt = torch.optim.Adam([*coarse.parameters(), *fine.parameters()])
    for x in loader:
        x = x.cuda()
        made = maker(x)
        # trap: they learn from it, and what was made is cut off
        gap = told(coarse, fine, x, made.detach())
        judge_opt.zero_grad()
        gap.backward()
        judge_opt.step()
        loss = told(coarse, fine, x, made) + F.l1_loss(made, x)  # expect: PLM066
        make_opt.zero_grad()
        loss.backward()
        make_opt.step()
