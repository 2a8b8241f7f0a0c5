"""What hands back a graph, to whoever may want it."""

import torch
from torch import nn
from torchattacks import PGD


def features(vgg, images):
    vgg.eval()
    out = []
    for x in images:
        # trap: differentiated by who calls it
        out.append(vgg(x.cuda()))
    return out


def styled(vgg, images, target):
    optimizer = torch.optim.Adam(images)
    for _ in range(100):
        optimizer.zero_grad()
        loss = (torch.cat(features(vgg, images)) - target).pow(2).sum()
        loss.backward()
        optimizer.step()


def described(net, images):
    net.eval()
    out = []
    for x in images:
        out.append(net(x.cuda()))  # expect: PLM019
    return out


def robust(net, loader):
    net.eval()
    attack = PGD(net, eps=8 / 255)
    hits = 0
    for x, y in loader:
        adversarial = attack(x.cuda(), y.cuda())
        hits += (net(adversarial).argmax(1) == y.cuda()).sum().item()  # expect: PLM019
    return hits


async def served(net: nn.Module, loader):
    net.eval()
    for x in loader:
        print(net(x.cuda()).argmax(1).cpu())  # expect: PLM019
