"""What a method hands back of a network, and is cut off at once, in the step of another network."""

import torch
from torch import nn
from torch.nn import functional as F


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.painter = nn.Linear(8, 8)
        self.judge = nn.Linear(8, 1)

    def forward(self, x, real, mode):
        if mode == "judge":
            return self.judge_loss(x, real)
        if mode == "beside":
            return self.beside(x, real)
        if mode == "careful":
            return self.careful(x, real)
        return self.painter_loss(x, real)

    def paint(self, x, blur=0.0):
        spread = x.std() * blur
        drawn = self.painter(x + blur)
        return drawn, spread

    def paint_and_keep(self, x):
        self.drawn = self.painter(x)
        return self.drawn

    def painter_loss(self, x, real):
        # trap: it learns by this
        drawn, _ = self.paint(x)
        return F.softplus(-self.judge(drawn)).mean()

    def judge_loss(self, x, real):
        drawn, _ = self.paint(x)  # expect: PLM019
        drawn = drawn.detach()
        return F.softplus(self.judge(drawn)).mean() + F.softplus(-self.judge(real)).mean()

    def beside(self, x, real):
        # trap: what it leaves on self has its graph, and is read there
        drawn = self.paint_and_keep(x)
        drawn = drawn.detach()
        return F.softplus(self.judge(drawn)).mean() + F.mse_loss(self.drawn, real)

    def careful(self, x, real):
        with torch.no_grad():
            # trap: nothing is recorded
            drawn, _ = self.paint(x)
            drawn = drawn.detach()
        return F.softplus(self.judge(drawn)).mean() + F.softplus(-self.judge(real)).mean()


class Trainer:
    def __init__(self):
        self.pair = Pair().cuda()
        self.optimizer = torch.optim.Adam(self.pair.judge.parameters())
        self.painter_optimizer = torch.optim.Adam(self.pair.painter.parameters())

    def step(self, x, real):
        self.painter_optimizer.zero_grad()
        self.pair(x, real, mode="painter").backward()
        self.painter_optimizer.step()
        self.optimizer.zero_grad()
        self.pair(x, real, mode="judge").backward()
        self.optimizer.step()


def run(loader):
    trainer = Trainer()
    for x, real in loader:
        trainer.step(x.cuda(), real.cuda())
