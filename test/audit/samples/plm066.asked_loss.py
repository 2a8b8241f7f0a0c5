from torch import nn
from torchvision import models


class VggPlain(nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        self.layers = models.vgg16(weights="DEFAULT").features[:16]  # expect: PLM066
        if not requires_grad:
            for one in self.parameters():
                one.requires_grad = False

    def forward(self, x):
        return self.layers(x)


class VggHeld(nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        # trap: it freezes itself unless it is asked not to, and nobody asks
        self.layers = models.vgg19(weights="DEFAULT").features[:16]
        if not requires_grad:
            for one in self.parameters():
                one.requires_grad = False

    def forward(self, x):
        return self.layers(x)


class PerceptualLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = VggPlain(requires_grad=True)
        self.held = VggHeld()

    def forward(self, made, wanted):
        return (self.plain(made) - self.held(wanted)).square().mean()
