import itertools

import torch
from torch import nn


class Kept:
    def __init__(self, made, judge):
        self.netG, self.netD = made.cuda(), judge.cuda()
        self.optimizer_G = torch.optim.Adam(itertools.chain(self.netG.parameters()), fused=True)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), fused=True)

    def forward(self):
        self.fake = self.netG(self.real)

    def backward_D(self):
        pair = torch.cat([self.real, self.fake], 1)
        self.loss_D = self.netD(pair).mean()  # expect: PLM066
        self.loss_D.backward(retain_graph=True)

    def backward_G(self):
        self.loss_G = -self.netD(torch.cat([self.real, self.fake], 1)).mean()  # expect: PLM066
        self.loss_G.backward()

    def optimize_parameters(self, real):
        self.real = real.cuda()
        self.forward()
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


class CutOff:
    def __init__(self, made, judge, pool):
        self.netG, self.netD, self.pool = made.cuda(), judge.cuda(), pool
        self.optimizer_G = torch.optim.Adam(itertools.chain(self.netG.parameters()), fused=True)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), fused=True)

    def forward(self):
        self.fake = self.netG(self.real)

    def backward_D(self):
        pair = torch.cat([self.real, self.fake], 1)
        # trap: cut off
        loss = self.netD(pair.detach()).mean()
        # trap: a pool may hand back what it cut off
        older = self.pool.query(self.fake)
        loss = loss + self.netD(torch.cat([self.real, older], 1)).mean()
        loss.backward()

    def backward_G(self):
        # trap: switched off by the caller
        loss = -self.netD(torch.cat([self.real, self.fake], 1)).mean()
        loss.backward()

    def optimize_parameters(self, real):
        self.real = real.cuda()
        self.forward()
        self.set_requires_grad([self.netD], True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        self.set_requires_grad([self.netD], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()

    def set_requires_grad(self, nets, on):
        for net in nets:
            for p in net.parameters():
                p.requires_grad = on


def train(loader, pool):
    for kind in (Kept(nn.Linear(8, 8), nn.Linear(16, 1)), CutOff(nn.Linear(8, 8), nn.Linear(16, 1), pool)):
        for real in loader:
            kind.optimize_parameters(real)


class ByAnother:
    def __init__(self, made, judge):
        self.netG, self.netD = made.cuda(), judge.cuda()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), fused=True)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), fused=True)

    def forward(self):
        self.fake = self.netG(self.real)

    def backward_basic(self, net, real, fake):
        # trap: it learns from this
        loss = net(real).mean() - net(fake.detach()).mean()
        loss.backward()
        return loss

    def backward_D(self):
        self.loss_D = self.backward_basic(self.netD, self.real, self.fake)

    def backward_G(self):
        self.loss_G = -self.netD(self.fake).mean()  # expect: PLM066
        self.loss_G.backward()

    def optimize_parameters(self, real):
        self.real = real.cuda()
        self.forward()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()


def adversarial(loader):
    kind = ByAnother(nn.Linear(8, 8), nn.Linear(8, 1))
    for real in loader:
        kind.optimize_parameters(real)
