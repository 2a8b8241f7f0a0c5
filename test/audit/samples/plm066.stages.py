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


class VGG16FeatureExtractor(nn.Module):
    def __init__(self):
        super().__init__()
        vgg16 = torchvision.models.vgg16(pretrained=True)  # likely: PLM066
        self.enc_1 = nn.Sequential(*vgg16.features[:5])
        self.enc_2 = nn.Sequential(*vgg16.features[5:10])

    def forward(self, image):
        first = self.enc_1(image)
        return [first, self.enc_2(first)]


class VGGFeatureNet(nn.Module):
    def __init__(self):
        super().__init__()
        # trap: with layers of its own it learns
        vgg16 = torchvision.models.vgg16(pretrained=True)
        self.enc_1 = nn.Sequential(*vgg16.features[:5])
        self.head = nn.Conv2d(64, 4, 1)

    def forward(self, image):
        return self.head(self.enc_1(image))


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
