import torch.nn as nn
from torchvision import models


class StyleLoss(nn.Module):
    def __init__(self):
        super().__init__()
        vgg = models.vgg19(pretrained=True).features.eval()
        for param in vgg.parameters():
            param.requires_grad = False
        self.vgg = vgg

    def forward(self, real, fake):
        for layer in self.vgg:
            # trap: frozen where it was made
            real, fake = layer(real), layer(fake)
        return (real - fake).abs().mean()


class ContentLoss(nn.Module):
    def __init__(self):
        super().__init__()
        vgg = models.vgg16(pretrained=True).features.eval()
        self.vgg = vgg

    def forward(self, real, fake):
        for at, layer in enumerate(self.vgg):
            fake = layer(fake)  # expect: PLM066
            real = layer(real)
            if at > 20:
                break
        return (real - fake).abs().mean()


class Encoder(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            # trap: these learn
            x = block(x)
        return x


def train(net, loader, optimizer):
    style, content, encoder = StyleLoss(), ContentLoss(), Encoder([net])
    for x, y in loader:
        made = encoder(x)
        loss = style(y, made) + content(y, made)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
