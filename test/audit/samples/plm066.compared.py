import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18, vgg16, vgg19


class Restoration:
    def __init__(self, net, device):
        self.net = net
        self.features = vgg16(weights="DEFAULT").features[:16].to(device).eval()  # expect: PLM066

    def loss(self, noisy, clean):
        made = self.net(noisy)
        return F.l1_loss(made, clean) + 0.1 * F.mse_loss(self.features(made), self.features(clean))


class Sharpening:
    def __init__(self, net):
        self.net = net
        self.percept = vgg19(pretrained=True).features  # expect: PLM066

    def loss(self, blurred, sharp):
        made, wanted = self.percept(self.net(blurred)), self.percept(sharp)
        return (made - wanted).square().mean()


class Frozen:
    def __init__(self, net):
        self.net = net
        # trap: frozen
        self.features = vgg16(weights="DEFAULT").features.eval()
        for weight in self.features.parameters():
            weight.requires_grad = False

    def loss(self, noisy, clean):
        return F.mse_loss(self.features(self.net(noisy)), self.features(clean))


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        # trap: it learns from both sides
        self.backbone = resnet18(weights="DEFAULT")

    def forward(self, one, other):
        return F.pairwise_distance(self.backbone(one), self.backbone(other))


class Measured:
    def __init__(self, net):
        self.net = net
        # trap: run without recording
        self.vgg = vgg16(weights="DEFAULT").eval()

    @torch.no_grad()
    def distance(self, noisy, clean):
        return F.mse_loss(self.vgg(self.net(noisy)), self.vgg(clean))
