"""Sizes that are compared with sizes."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.loss_config = config
        self.proj = nn.Linear(8, 8)

    def forward(self, query, static_k, pred, head_out):
        # trap: how many there are
        assert static_k.size(2) == head_out
        out = self.proj(query)
        loss = out.mean()
        # trap: a weight of the configuration
        if self.loss_config["lambda_pred"] > 0:
            loss = loss + pred.mean()
        if out.abs().max() > 1e4:  # expect: PLM027
            loss = loss * 0
        return loss


def train(net, loader, optimizer):
    net.cuda()
    for x, k, pred in loader:
        loss = net(x.cuda(), k.cuda(), pred.cuda(), 8)
        loss.backward()
        optimizer.step()
