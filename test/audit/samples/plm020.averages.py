"""Networks in several parts, of which each has an average that learns from it."""

import copy

import torch
from torch import nn


class Distilled(nn.Module):
    def __init__(self, body, width):
        super().__init__()
        self.student_backbone = body
        self.teacher_backbone = copy.deepcopy(body)
        self.student_head = nn.Linear(width, width)
        self.teacher_head = nn.Linear(width, width)

    def teach(self, x):
        seen = self.teacher_backbone(x)  # expect: PLM020
        return self.teacher_head(seen)

    def forward(self, x):
        return self.teach(x), self.student_head(self.student_backbone(x))

    @torch.no_grad()
    def follow(self, rate):
        for ours, theirs in zip(self.student_backbone.parameters(), self.teacher_backbone.parameters()):
            theirs.mul_(rate).add_(ours, alpha=1 - rate)


class Contrasted(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.encoder_q = body
        self.encoder_k = copy.deepcopy(body)

    def forward(self, one, other):
        return self.encoder_q(one), self.encoder_k(other)  # expect: PLM020

    @torch.no_grad()
    def follow(self, rate):
        for ours, theirs in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            theirs.mul_(rate).add_(ours, alpha=1 - rate)


class Frozen(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.backbone = body
        self.backbone_momentum = copy.deepcopy(body)
        for parameter in self.backbone_momentum.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        # trap: frozen, it records nothing
        return self.backbone(x), self.backbone_momentum(x)


class Careful(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.student_encoder = body
        self.momentum_trunk = copy.deepcopy(body)

    def teach(self, x):
        # trap: called without gradients
        return self.momentum_trunk(x)

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teach(x)
        return wanted, self.student_encoder(x)


class Alike(nn.Module):
    def __init__(self, body, head):
        super().__init__()
        self.backbone = body
        self.teacher_head = head

    def forward(self, x):
        # trap: what the trained network made goes through it
        return self.teacher_head(self.backbone(x))
