"""Losses that one method computes, and another differentiates."""

import torch
import torchvision


class Restorer:
    def __init__(self, net, device):
        self.net = net.to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)
        self.judge = torchvision.models.vgg16(weights="DEFAULT").features[:16].to(device).eval()
        self.shown = torchvision.models.vgg19(weights="DEFAULT").features[:16].to(device).eval()

    def look(self, out, image):
        return (self.judge(out) - image).abs().mean()  # expect: PLM066

    def compute(self, image):
        out = self.net(image)
        loss = (out - image).abs().mean() + self.look(out, image)
        # trap: handed back beside the loss, and differentiated by nobody
        seen = self.shown(out)
        return loss, seen

    def step(self, image):
        self.net.train()
        loss, seen = self.compute(image)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), seen.mean().item()

    @torch.no_grad()
    def measure(self, image):
        self.net.eval()
        loss, seen = self.compute(image)
        return loss.item(), seen.mean().item()


class Frozen:
    def __init__(self, net, device):
        self.net = net.to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)
        self.judge = torchvision.models.vgg16(weights="DEFAULT").features[:16].to(device).eval()
        self.judge.requires_grad_(False)

    def compute(self, image):
        out = self.net(image)
        # trap: frozen by its flags
        return (out - image).abs().mean() + (self.judge(out) - self.judge(image)).abs().mean()

    def step(self, image):
        loss = self.compute(image)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def train(restorer, frozen, loader):
    for image in loader:
        restorer.step(image.cuda())
        frozen.step(image.cuda())
