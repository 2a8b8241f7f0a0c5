"""Inputs of nothing but one number."""

import torch
from torch import nn


class Centered(nn.Module):
    def __init__(self, encoder, head):
        super().__init__()
        self.encoder = encoder
        for param in self.encoder.parameters():
            param.requires_grad = False
        self.head = head
        self.register_buffer("gray", torch.full((1, 3, 64, 64), 0.5))
        self.register_buffer("mean", torch.zeros(1, 3, 64, 64))

    def forward(self, x):
        # trap: of this batch
        features = self.encoder.forward_features(x)
        with torch.no_grad():
            empty = self.encoder.forward_features(torch.zeros_like(x[:1]))  # expect: PLM080
            white = self.encoder(x.new_ones(1, 3, 64, 64))  # expect: PLM080
            gray = self.encoder(self.gray)  # expect: PLM080
            # trap: it goes along with the batches
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            mean = self.encoder(self.mean)
            # trap: drawn anew
            noise = self.encoder(torch.randn_like(x[:1]))
        # trap: the head learns
        bias = self.head(torch.zeros_like(features))
        return self.head(features - empty - white - gray - mean - noise) + bias


def train(encoder, head, loader, optimizer):
    net = Centered(encoder, head).cuda()
    for x, y in loader:
        loss = (net(x.cuda()) - y.cuda()).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def beside(teacher, net, loader, optimizer):
    teacher = teacher.cuda().eval().requires_grad_(False)
    for x in loader:
        x = x.cuda()
        with torch.no_grad():
            blank = teacher(torch.zeros_like(x))  # expect: PLM080
        loss = (net(x) - blank).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def masked(teacher, net, loader, optimizer):
    teacher = teacher.cuda().eval().requires_grad_(False)
    start = torch.zeros(1, 3, 64, 64, device="cuda", requires_grad=True)
    for x, at in loader:
        x = x.cuda()
        mask = torch.zeros_like(x)
        mask[:, :, at] = 1
        with torch.no_grad():
            # trap: written into since
            wanted = teacher(mask)
            # trap: what learns was blank at first
            other = teacher(start)
        loss = (net(x) - wanted - other).abs().mean() + start.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
