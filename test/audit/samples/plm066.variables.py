"""Labels that require no gradients freeze no network."""

import torch
import torch.nn.functional as F
from torch.autograd import Variable


def duel(maker, judge, loader):
    make_opt = torch.optim.Adam(maker.parameters())
    judge_opt = torch.optim.Adam(judge.parameters())
    for x in loader:
        x = x.cuda()
        real = Variable(torch.ones(x.size(0), 1).cuda(), requires_grad=False)
        fake = torch.zeros(x.size(0), 1, device="cuda", requires_grad=False)
        made = maker(torch.randn_like(x))
        loss = F.mse_loss(judge(made), real)  # expect: PLM066
        make_opt.zero_grad()
        loss.backward()
        make_opt.step()
        # trap: its own loss
        gap = F.mse_loss(judge(x), real) + F.mse_loss(judge(made.detach()), fake)
        judge_opt.zero_grad()
        gap.backward()
        judge_opt.step()


def fair(maker, judge, loader):
    make_opt = torch.optim.Adam(maker.parameters())
    judge_opt = torch.optim.Adam(judge.parameters())
    for x in loader:
        x = x.cuda()
        real = Variable(torch.ones(x.size(0), 1).cuda(), requires_grad=False)
        for p in judge.parameters():
            p.requires_grad = False
        made = maker(torch.randn_like(x))
        # trap: switched off for this part
        loss = F.mse_loss(judge(made), real)
        make_opt.zero_grad()
        loss.backward()
        make_opt.step()
        for p in judge.parameters():
            p.requires_grad = True
        gap = F.mse_loss(judge(x), real) - judge(made.detach()).mean()
        judge_opt.zero_grad()
        gap.backward()
        judge_opt.step()


def told(maker, judge, loader, set_requires_grad):
    make_opt = torch.optim.Adam(maker.parameters())
    judge_opt = torch.optim.Adam(judge.parameters())
    for x in loader:
        x = x.cuda()
        set_requires_grad(judge, requires_grad=False)
        # trap: switched off for this part
        loss = -judge(maker(torch.randn_like(x))).mean()
        make_opt.zero_grad()
        loss.backward()
        make_opt.step()
        set_requires_grad(judge, requires_grad=True)
        gap = judge(maker(x).detach()).mean() - judge(x).mean()
        judge_opt.zero_grad()
        gap.backward()
        judge_opt.step()
