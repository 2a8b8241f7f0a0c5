import torch
from torch import nn
from torch.nn import functional as F


def train(net, judge, loader, optimizer, judge_optimizer):
    net.cuda()
    judge.cuda()
    for step, images in enumerate(loader):
        images = images.cuda()
        made = net(images)
        if step % 2 == 0:
            loss = F.softplus(judge(made.detach())).mean() + F.softplus(-judge(images)).mean()
            judge_optimizer.zero_grad()
            loss.backward()
            judge_optimizer.step()
        else:
            loss = F.softplus(-judge(made)).mean()
            optimizer.zero_grad()
            assert torch.isfinite(loss), f"diverged at {step}"  # expect: PLM027
            loss.backward()
            optimizer.step()


def seldom(net, loader, optimizer):
    net.cuda()
    for step, images in enumerate(loader):
        loss = net(images.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        if step % 2 == 0:
            optimizer.step()
        if step % 200 == 0:
            assert torch.isfinite(loss)  # trap: now and then


class Divergence(nn.Module):
    def forward(self, ours: torch.Tensor, theirs: torch.Tensor, mask: torch.Tensor | None = None):
        each = F.kl_div(ours, theirs, reduction="none", log_target=True)
        count = mask.sum() if mask is not None else each.size(0)
        width = each.size(1) if each.dim() > 1 else 1
        return each.sum() / max(count, 1) / max(width, 1)  # expect: PLM027
