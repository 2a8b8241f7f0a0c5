"""Two optimizers, each with its loss and its step, in the two arms of a test."""

import torch


class Adversary:
    def __init__(self, net, judge, critic_steps):
        self.net, self.judge, self.critic_steps = net, judge, critic_steps
        self.net_opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.judge_opt = torch.optim.SGD(judge.parameters(), lr=0.1)
        self.count = torch.zeros((), dtype=torch.long)

    def update(self, x, y):
        self.count += 1
        made = self.net(x)
        judged = torch.nn.functional.cross_entropy(self.judge(made), y)
        if self.count.item() % (1 + self.critic_steps) < self.critic_steps:
            self.judge_opt.zero_grad()
            judged.backward()
            self.judge_opt.step()
            return judged
        else:
            loss = made.pow(2).mean() - judged
            self.judge_opt.zero_grad()
            self.net_opt.zero_grad()
            # trap: stepped here, by its own optimizer
            loss.backward()
            self.net_opt.step()
            return loss


class Decoder:
    def __init__(self, net, judge, every):
        self.net, self.judge, self.every = net, judge, every
        self.gen_opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.dis_opt = torch.optim.SGD(judge.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        made = self.net(batch)
        loss_dis = self.judge(made.detach()).mean() - self.judge(batch).mean()
        if not (batch_idx % self.every) and self.warmed_up:
            self.dis_opt.zero_grad()
            # trap: only in the turns that step
            loss_dis.backward()
            self.dis_opt.step()
        else:
            loss_gen = -self.judge(made).mean()
            self.gen_opt.zero_grad()
            # trap: of the other one
            loss_gen.backward()
            self.gen_opt.step()
