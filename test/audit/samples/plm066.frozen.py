"""Trained by others, and frozen, or run without gradients."""

import torch
import torch.nn.functional as F
from torchvision.models import vgg16


def train(net, loader, optimizer):
    net.cuda()
    vgg = vgg16(pretrained=True).features[:16].cuda().eval()
    vgg.requires_grad_(False)
    known = vgg16(pretrained=True).cuda().eval()
    for x in loader:
        x = x.cuda()
        made = net(x)
        with torch.no_grad():
            seen = known(x)
        loss = F.l1_loss(made, x) + F.l1_loss(vgg(made), vgg(x)) + seen.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
