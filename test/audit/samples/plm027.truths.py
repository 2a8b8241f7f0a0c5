"""Truths and numbers of Python's, which are called like something computed."""

import torch
from torch import nn


def save_args(given):
    given.pop("self").__dict__.update(given)


class Inverse(nn.Module):
    def __init__(self, weights, random_shift_prob=0.0):
        super().__init__()
        save_args(locals())
        self.weights = weights
        self.encoder = nn.Linear(8, 8)

    def forward(self, x, pred_scores, pred_dist):
        within_recon = "recon" in self.weights or "style" in self.weights
        # trap: asked of a dict
        if within_recon:
            x = x + 1
        # trap: a number that the constructor is given
        if self.random_shift_prob > 0.0:
            x = x.roll(1)
        # trap: the names of their types
        assert pred_scores.type() == pred_dist.type()
        out = self.encoder(x)
        if out.abs().max() > 1e4:  # expect: PLM027
            out = out.clamp(-1e4, 1e4)
        return out


def train(net, loader, optimizer):
    net.cuda()
    for x, scores, dist in loader:
        loss = net(x.cuda(), scores.cuda(), dist.cuda()).mean()
        loss.backward()
        optimizer.step()
