import torch
from torch import nn

from loading import load_vae, load_vgg


class Latents(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.vae = load_vae()
        self.clip = load_vae()
        self.words = nn.Parameter(torch.zeros(1, 77))
        self.register_buffer("blank", torch.zeros(1, 3, 64, 64), persistent=False)
        self.register_buffer("seen", torch.zeros(1, 3, 64, 64))

    def forward(self, images):
        width = next(self.vae.parameters()).dtype
        self.seen.copy_(images.mean(0, keepdim=True))
        with torch.no_grad():
            blank = self.vae.encode(self.blank.to(width)).mean  # expect: PLM080
            # trap: filled anew in each step
            seen = self.vae.encode(self.seen).mean
            # trap: learnt
            words = self.clip.encode_text(self.words)
            # trap: another in each step
            latents = self.vae.encode(images).mean
        return self.net(latents - blank - seen).mean() + words.mean()


class Texture(nn.Module):
    def __init__(self):
        super().__init__()
        self.vgg = load_vgg()
        self.pattern = torch.rand(1, 3, 256, 256).cuda()
        self.gap = nn.L1Loss()

    def forward(self, images):
        wanted = self.vgg(self.pattern)  # expect: PLM080
        return self.gap(self.vgg(images), wanted.expand(len(images), -1, -1, -1))


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.lpips_head = load_vgg()
        self.pattern = torch.rand(1, 3, 256, 256).cuda()
        self.optimizer = torch.optim.Adam(self.lpips_head.parameters())

    def forward(self, images):
        # trap: it learns
        return (self.lpips_head(images) - self.lpips_head(self.pattern)).mean()


def train(latents, texture, head, loader, optimizer):
    for images in loader:
        images = images.cuda()
        loss = latents(images) + texture(images) + head(images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
