"""Networks that learn in turns, each with an optimizer of its own."""

import torch
import torch.nn.functional as F


def uncut(painter, judge, loader, device):
    paint_opt = torch.optim.Adam(painter.parameters(), lr=1e-4)
    judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-4)
    for real, noise in loader:
        fake = painter(noise.to(device))  # expect: PLM066
        judge_loss = F.softplus(judge(fake)).mean() - judge(real.to(device)).mean()
        judge_opt.zero_grad()
        judge_loss.backward()
        judge_opt.step()
        paint_opt.zero_grad()
        F.l1_loss(painter(noise.to(device)), real.to(device)).backward()
        paint_opt.step()


def together(coder, head, loader, device):
    coder_opt = torch.optim.Adam(coder.parameters(), lr=1e-4)
    head_opt = torch.optim.Adam(head.parameters(), lr=1e-4)
    for x, y in loader:
        # trap: both take a step
        loss = F.cross_entropy(head(coder(x.to(device))), y.to(device))
        coder_opt.zero_grad()
        head_opt.zero_grad()
        loss.backward()
        coder_opt.step()
        head_opt.step()


def switched(painter, judge, loader, device):
    paint_opt = torch.optim.Adam(painter.parameters(), lr=1e-4)
    judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-4)
    for real, noise in loader:
        # trap: it is switched off meanwhile
        painter.requires_grad_(False)
        fake = painter(noise.to(device))
        judge_loss = F.softplus(judge(fake)).mean() - judge(real.to(device)).mean()
        judge_opt.zero_grad()
        judge_loss.backward()
        judge_opt.step()
        painter.requires_grad_(True)
        paint_opt.zero_grad()
        F.l1_loss(painter(noise.to(device)), real.to(device)).backward()
        paint_opt.step()


def placed(voice, judge, loader, device):
    voice_opt = torch.optim.Adam(voice.parameters(), lr=1e-4)
    judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-4)
    for text, sound in loader:
        # trap: it only tells where the sound is cut out
        made, slice_ids = voice(text.to(device))
        piece = torch.gather(sound.to(device), 1, slice_ids)
        judge_loss = F.softplus(judge(made.detach())).mean() - judge(piece).mean()
        judge_opt.zero_grad()
        judge_loss.backward()
        judge_opt.step()
        voice_opt.zero_grad()
        F.l1_loss(voice(text.to(device))[0], piece).backward()
        voice_opt.step()


class Shown:
    def __init__(self, painter, judge, paint_optimizer, judge_optimizer):
        self.painter = painter
        self.judge = judge
        self.paint_optimizer = paint_optimizer
        self.judge_optimizer = judge_optimizer

    def step(self, real, noise):
        self.step_judge(real, noise)
        self.step_painter(noise)

    def step_painter(self, noise):
        self.judge.train()
        self.painter.train()
        loss = F.softplus(-self.judge(self.painter(noise))).mean()  # expect: PLM066
        self.paint_optimizer.zero_grad()
        loss.backward()
        self.paint_optimizer.step()

    def step_judge(self, real, noise):
        loss = F.softplus(-self.judge(real)).mean()
        self.judge_optimizer.zero_grad()
        loss.backward()
        # trap: the one that learns from this loss, by a backward for each
        doubt = F.softplus(self.judge(self.painter(noise).detach())).mean()
        doubt.backward()
        self.judge_optimizer.step()
