import torch
from torchvision import models


def make_eye():
    return models.vgg16(weights="DEFAULT").features[:16].cuda().eval()


def make_net(half):
    if half:
        return models.vgg16().features[:8].cuda()
    return models.vgg16().features[:16].cuda().eval()


class Lanterns:
    def __init__(self, net):
        self.net = net.cuda()
        self.eye = make_eye()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4, fused=True)

    def update(self, views, wanted):
        drawn = self.net(views)
        gap = (self.eye(drawn) - self.eye(wanted).detach()).abs().mean()  # expect: PLM020
        self.optimizer.zero_grad()
        gap.backward()
        self.optimizer.step()


# One of those that are made is to learn.
class Lamps:
    def __init__(self, net, half):
        self.net = net.cuda()
        self.part = make_net(half)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4, fused=True)

    def update(self, views, wanted):
        drawn = self.net(views)
        gap = (self.part(drawn) - self.part(wanted)).abs().mean()
        self.optimizer.zero_grad()
        gap.backward()
        self.optimizer.step()
