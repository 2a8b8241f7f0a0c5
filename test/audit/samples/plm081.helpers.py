"""Copies that a helper hands out, and copies that are handed in."""

import torch
import torch.nn.functional as F


def widened(values, times, shape):
    return values.gather(0, times).view(-1, 1, 1, 1).expand(shape).clone()  # expect: PLM081


def filled(values, shape):
    # trap: its caller writes into it
    return values.view(-1, 1, 1, 1).expand(shape).clone()


def folded(values, shape):
    # trap: its caller views it in another shape
    return values.view(-1, 1, 1, 1).expand(shape).contiguous()


def judged(net, real, painted):
    bad = net(painted.clone().detach())  # expect: PLM081
    # what came in may be changed by whoever gave it
    good = net(real.clone())  # likely: PLM081
    return F.softplus(bad).mean() + F.softplus(-good).mean()


def train(net, judge, signal, loader, optimizer):
    for images in loader:
        images = images.cuda()
        times = torch.randint(0, 1000, (images.size(0),), device=images.device)
        scale = filled(signal[times], images.shape)
        scale[:, 0] = 1
        flat = folded(signal[times], images.shape).view(images.size(0), -1) * 2
        noisy = widened(signal, times, images.shape) * images + scale
        loss = net(noisy).mean() + flat.mean() + judged(judge, images, noisy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fit(net, loader, optimizer):
    for waves, codes in loader:
        waves, codes = waves.cuda(), codes.cuda()
        logits, others_logits = net(waves)
        length = min(logits.size(1), codes.size(1))
        logits = logits[:, :length, :].clone()  # expect: PLM081
        # trap: a few of them, so that the others can go
        others_logits = others_logits[:, :4, :].clone()
        loss = F.cross_entropy(logits.transpose(1, 2), codes[:, :length]) + others_logits.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
