import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import vgg16


def maker_steps(net):
    return torch.optim.SGD(net.parameters(), lr=1e-3)


def judge_steps(net):
    return torch.optim.SGD(net.parameters(), lr=1e-3)


def throw(maker, judge, loader):
    maker.train()
    judge.train()
    makes = maker_steps(maker)
    judges = judge_steps(judge)
    for noise, real in loader:
        noise, real = noise.cuda(), real.cuda()
        fake = maker(noise)  # expect: PLM066
        doubt = F.softplus(judge(fake)).mean() + F.softplus(-judge(real)).mean()
        judges.zero_grad()
        doubt.backward()
        judges.step()
        fake = maker(noise)
        belief = F.softplus(-judge(fake)).mean()  # expect: PLM066
        makes.zero_grad()
        belief.backward()
        makes.step()


def both_steps(net, other):
    return torch.optim.SGD([*net.parameters(), *other.parameters()], lr=1e-3)


# One function gave one optimizer both of them.
def turn(maker, judge, loader):
    maker.train()
    judge.train()
    steps = both_steps(maker, judge)
    for noise, real in loader:
        noise, real = noise.cuda(), real.cuda()
        fake = maker(noise)
        gap = F.softplus(judge(fake)).mean() + F.softplus(-judge(real)).mean()
        steps.zero_grad()
        gap.backward()
        steps.step()


def make_view(pair):
    return pair[0].cuda()


def make_count(pair):
    return pair.shape[0]


class Gallery(nn.Module):
    def __init__(self):
        super().__init__()
        self.painter = nn.Conv2d(3, 3, 3, padding=1)
        self.eye = vgg16(weights="DEFAULT").features[:16].eval()

    def forward(self, pair):
        view = make_view(pair)
        drawn = self.painter(view)
        gap = (self.eye(drawn) - view.mean()).abs().mean()  # expect: PLM066
        gap.backward()
        return gap


class Closed(nn.Module):
    def __init__(self):
        super().__init__()
        self.painter = nn.Conv2d(3, 3, 3, padding=1)
        self.eye = vgg16(weights="DEFAULT").features[:16].eval()

    # It looks at as many blank walls as it is given.
    def forward(self, pair):
        walls = torch.zeros(make_count(pair), 3, 8, 8, device="cuda")
        gap = self.eye(walls).mean() + self.painter(walls).mean()
        gap.backward()
        return gap
