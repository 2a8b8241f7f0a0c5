"""Networks that begin with the weights of another, and learn beside it."""

import copy

import torch
import torch.nn.functional as F
from diffusers import ControlNetModel, UNet2DConditionModel
from torch import nn
from torchvision.models import resnet18


def steer(loader, path, device):
    unet = UNet2DConditionModel.from_pretrained(path).to(device)
    guide = ControlNetModel.from_unet(unet).to(device)
    optimizer = torch.optim.AdamW(guide.parameters(), lr=1e-5)
    for noisy, t, words, hint, noise in loader:
        down, mid = guide(noisy, t, words, hint, return_dict=False)
        pred = unet(noisy, t, words, down_block_additional_residuals=down, mid_block_additional_residual=mid)[0]  # expect: PLM066
        loss = F.mse_loss(pred, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def steer_frozen(loader, path, device):
    unet = UNet2DConditionModel.from_pretrained(path).to(device)
    guide = ControlNetModel.from_unet(unet).to(device)
    # trap: nothing of it gets gradients
    unet.requires_grad_(False)
    optimizer = torch.optim.AdamW(guide.parameters(), lr=1e-5)
    for noisy, t, words, hint, noise in loader:
        down, mid = guide(noisy, t, words, hint, return_dict=False)
        pred = unet(noisy, t, words, down_block_additional_residuals=down, mid_block_additional_residual=mid)[0]
        loss = F.mse_loss(pred, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def twins(loader):
    base = resnet18(weights="DEFAULT")
    learner = copy.deepcopy(base)
    optimizer = torch.optim.AdamW(learner.parameters(), lr=1e-5)
    for x, y in loader:
        loss = F.cross_entropy(base(learner(x)), y)  # expect: PLM066
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Pair(nn.Module):
    def __init__(self, body, width):
        super().__init__()
        self.body = body
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


def whole(body: nn.Module, loader):
    pair = Pair(body, 64)
    # trap: what is put into the network that learns, learns with it
    optimizer = torch.optim.AdamW(pair.parameters(), lr=1e-5)
    for x, y in loader:
        loss = F.cross_entropy(pair(x), y) + body(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
