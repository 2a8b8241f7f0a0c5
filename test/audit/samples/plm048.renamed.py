"""On the way to a softmax under other names, and place by place to a sum, in the segmentation of pictures."""

import torch
import torch.nn.functional as F
from torch import nn


class Biased(nn.Module):
    def __init__(self, width, window=4):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.window = window

    def forward(self, x, near, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2))
        if self.window is not None:
            moved = scores + near  # expect: PLM048
        else:
            moved = scores
        covered = moved.masked_fill(mask, -1e4)  # expect: PLM048
        return torch.softmax(covered, dim=-1) @ v


class Shown(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, near):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2))
        # trap: the first ones are handed out as well
        moved = scores + near
        return torch.softmax(moved, dim=-1) @ v, scores


def pairs(features, temperature):
    alike = F.cosine_similarity(features[:, None], features[None], dim=-1)
    own = torch.eye(len(features), dtype=torch.bool, device=features.device)
    others = alike.masked_fill(own, -1e9)  # expect: PLM048
    logits = others / temperature
    return (torch.logsumexp(logits, dim=-1) - logits[own.roll(1, 0)]).mean()


def rows(features, others):
    # trap: one number for each example
    alike = F.cosine_similarity(features, others, dim=-1)
    moved = alike + 1
    return torch.softmax(moved, dim=-1).sum()


def focal(logits, target, gamma=2.0, alpha=0.25):
    log_chance = F.log_softmax(logits, dim=1)
    hard = (1 - log_chance.exp()) ** gamma
    # trap: each of the two is needed for the other's gradient
    weighted = hard * log_chance
    hit = weighted * target  # expect: PLM048
    return -(hit.sum(dim=1) * alpha).mean()


def train(net, loader, optimizer, device="cuda"):
    for x, y, near, mask in loader:
        x = x.to(device, non_blocking=True)
        features = net(x, near, mask)
        loss = pairs(features, 0.1) + rows(features, x) + focal(features, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
