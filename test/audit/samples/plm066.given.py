"""The optimizer is handed in: what this file makes is in it only where somebody is handed its parameters."""

import torch.nn.functional as F
from torchvision import models


def train(model, optimizer, loader, device):
    vgg = models.vgg16(weights="DEFAULT").features[:16].to(device)
    for x in loader:
        out = model(x)
        loss = F.mse_loss(vgg(out), x)  # expect: PLM066
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def grouped(model, optimizer, loader):
    head = models.resnet18(weights="DEFAULT")
    optimizer.add_param_group({"params": head.parameters()})
    for x in loader:
        loss = head(model(x)).mean()  # trap: its parameters are added
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def handed(model, make_optimizer, loader):
    net = models.resnet18(weights="DEFAULT")
    optimizer = make_optimizer(model, net)
    for x in loader:
        loss = net(model(x)).mean()  # trap: somebody is handed it
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def frozen(model, optimizer, loader):
    vgg = models.vgg16(weights="DEFAULT").features.requires_grad_(False)
    for x in loader:
        loss = F.mse_loss(vgg(model(x)), x)  # trap: frozen where it is made
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Coach:
    def __init__(self, model, optimizer, shared):
        self.model, self.optimizer = model, optimizer
        self.vgg = models.vgg19(pretrained=True).features
        self.body = models.resnet18(pretrained=True)
        self.wrapped = shared(self.body)
        self.crit = F.mse_loss

    def epoch(self, loader):
        for x in loader:
            out = self.model(x)
            loss = self.crit(self.vgg(out), x)  # expect: PLM066
            loss = loss + self.body(out).mean()  # trap: somebody is handed it
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
