"""Two updates of what was generated once."""

import torch
import torch.nn.functional as F


def update_critic(critic, optimizer, real, fake):
    loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake)).mean()
    # trap: the generator's update goes through what was generated again
    loss.backward(retain_graph=True)
    optimizer.step()
    return loss.item()


def update_generator(critic, optimizer, real, fake):
    loss = F.softplus(-critic(fake)).mean() + F.l1_loss(fake, real)
    loss.backward()
    optimizer.step()
    return loss.item()


def generate(generator, noise):
    return generator(noise)


def train(generator, critic, of_generator, of_critic, loader):
    for real, noise in loader:
        real, noise = real.cuda(), noise.cuda()
        of_generator.zero_grad()
        of_critic.zero_grad()
        fake = generate(generator, noise)
        update_critic(critic, of_critic, real, fake)
        update_generator(critic, of_generator, real, fake)


def fit_first(net, optimizer, x, y):
    loss = F.mse_loss(net(x), y)
    loss.backward(retain_graph=True)  # expect: PLM007
    optimizer.step()


def fit_second(net, optimizer, x, y):
    loss = F.l1_loss(net(x), y)
    loss.backward()
    optimizer.step()


def train_both(first, second, of_first, of_second, loader):
    for x, y in loader:
        x = x.cuda()
        y = y.to("cuda")
        # trap: what both are given is data, and has no graph
        fit_first(first, of_first, x, y)
        fit_second(second, of_second, x, y)


class Agent:
    def update(self, batch):
        action, belief, task = self.agent(batch["obs"], batch["context"])
        values = self.qf(batch["obs"], task if self.through else task.detach())
        value_loss = F.mse_loss(values, batch["rewards"])
        context_loss = self.prior(belief).mean()
        # trap: both may go through what the agent made of the context
        context_loss.backward(retain_graph=True)
        value_loss.backward()
        self.optimizer.step()
