import torch
import torch.nn.functional as F
from torch import nn

from nets import make_net


class Pair(nn.Module):
    def __init__(self, learner, teacher):
        super().__init__()
        self.learner = learner
        self.teacher = teacher

    def forward(self, images):
        ours = self.learner(images)
        if not self.training:
            return ours
        return ours, self.teacher(images)  # expect: PLM020


class Shielded(nn.Module):
    def __init__(self, learner, teacher):
        super().__init__()
        self.learner = learner
        self.teacher = teacher

    def forward(self, images):
        ours = self.learner(images)
        if not self.training:
            return ours
        # trap: nothing is recorded
        with torch.no_grad():
            theirs = self.teacher(images)
        return ours, theirs


class Chained(nn.Module):
    def __init__(self, learner, teacher):
        super().__init__()
        self.learner = learner
        self.teacher = teacher

    def forward(self, images):
        # trap: gradients come back through it to what learns
        return images, self.teacher(self.learner(images))


class Still(nn.Module):
    def __init__(self, learner, teacher):
        super().__init__()
        self.learner = learner
        self.teacher = teacher
        for one in self.teacher.parameters():
            one.requires_grad = False

    def forward(self, images):
        # trap: frozen above, as that of the first class is not
        return self.learner(images), self.teacher(images)


class Stiller(Still):
    def forward(self, images):
        # trap: frozen by the class that it is made from
        return self.learner(images), self.teacher(images) * 2


def epoch(pair, loader, optimizer):
    pair.train()
    pair.teacher.eval()
    for images, _ in loader:
        ours, theirs = pair(images.cuda())
        loss = F.mse_loss(ours, theirs.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(loader):
    pair = Pair(make_net("small"), make_net("large"))
    pair = pair.cuda()
    optimizer = torch.optim.SGD(pair.learner.parameters(), 0.1)
    for _ in range(10):
        epoch(pair, loader, optimizer)


def others(loader):
    pair = Shielded(make_net("small"), make_net("large")).cuda()
    optimizer = torch.optim.SGD(pair.learner.parameters(), 0.1)
    chain = Chained(make_net("small"), make_net("large")).cuda()
    chain.teacher.eval()
    still = Still(make_net("small"), make_net("large")).cuda()
    still.teacher.eval()
    stiller = Stiller(make_net("small"), make_net("large")).cuda()
    stiller.teacher.eval()
    beside = torch.optim.SGD(chain.learner.parameters(), 0.1)
    for images, _ in loader:
        ours, theirs = pair(images.cuda())
        loss = F.mse_loss(ours, theirs) + F.mse_loss(*chain(images.cuda()))
        loss = loss + F.mse_loss(*still(images.cuda())) + F.mse_loss(*stiller(images.cuda()))
        loss.backward()
        optimizer.step()
        beside.step()
