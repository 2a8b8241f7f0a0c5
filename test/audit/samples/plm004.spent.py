import torch


class Trainer:
    def __init__(self, net, critic, optimizer):
        self.net = net.cuda()
        self.critic = critic.cuda()
        self.optimizer = optimizer

    def differentiate(self, real, fake):
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss.backward()
        return loss

    def step(self, batch):
        self.optimizer.zero_grad()
        fake = self.net(batch.cuda())
        # trap: it comes back differentiated, and only its nodes are left
        self.loss_critic = self.differentiate(batch.cuda(), fake.detach())
        score = self.critic(fake).mean()
        score.backward()
        # trap: differentiated right here
        self.score = score
        self.optimizer.step()

    def report(self):
        return self.loss_critic.item(), self.score.item()


def train(trainer, loader):
    for batch in loader:
        trainer.step(batch)
