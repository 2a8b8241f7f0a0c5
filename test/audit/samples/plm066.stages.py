import torch
import torchvision
from torch import nn


class VGG19(nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        layers = torchvision.models.vgg19(pretrained=True).features  # likely: PLM066
        self.slice1 = nn.Sequential(*layers[:2])
        self.slice2 = nn.Sequential(*layers[2:7])

    def forward(self, x):
        first = self.slice1(x)
        return [first, self.slice2(first)]


class VGG16(nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        # trap: asked not to, it switches them off
        layers = torchvision.models.vgg16(pretrained=True).features
        self.slice1 = nn.Sequential(*layers[:4])
        self.slice2 = nn.Sequential(*layers[4:9])
        if not requires_grad:
            for param in self.parameters():
                param.requires_grad = False

    def forward(self, x):
        first = self.slice1(x)
        return [first, self.slice2(first)]


class VGGTrunk(nn.Module):
    def __init__(self):
        super().__init__()
        # trap: what a detector begins with, and learns
        self.features = torchvision.models.vgg16(pretrained=True).features
        self.head = nn.Conv2d(512, 4, 1)

    def forward(self, x):
        return self.head(self.features(x))


def train(painter, loader, optimizer):
    vgg, small, trunk = VGG19().cuda(), VGG16().cuda(), VGGTrunk().cuda()
    for x, y in loader:
        made = painter(x.cuda())
        pairs = zip(vgg(made), vgg(y.cuda()))
        loss = sum(torch.nn.functional.l1_loss(a, b) for a, b in pairs)
        loss = loss + (small(made)[1] - small(y.cuda())[1]).abs().mean() + trunk(made).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
