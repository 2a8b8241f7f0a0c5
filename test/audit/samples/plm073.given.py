import torch
from torch.distributions import Categorical, kl_divergence


def matching(ours, theirs):
    return kl_divergence(Categorical(logits=theirs), Categorical(logits=ours)).mean()  # expect: PLM073, PLM073


def trusting(ours, theirs):
    # trap: nothing is validated
    return kl_divergence(Categorical(logits=theirs, validate_args=False), Categorical(logits=ours, validate_args=False))


def judged(ours):
    # trap: no training is given it
    return Categorical(logits=ours).entropy()


class Fitting:
    def __init__(self, net, teacher, optimizer, objective, beside=trusting):
        self.net = net.cuda()
        self.teacher = teacher.cuda()
        self.optimizer = optimizer
        self.objective = objective
        self.beside = beside

    def epoch(self, loader):
        for x in loader:
            x = x.cuda()
            with torch.no_grad():
                theirs = self.teacher(x)
            ours = self.net(x)
            loss = self.objective(ours, theirs) + self.beside(ours, theirs).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def start(net, teacher, optimizer, loader):
    # trap: what a constructor makes is no function that was handed in
    reports = [judged]
    Fitting(net, teacher, optimizer, objective=matching).epoch(loader)
    return reports
