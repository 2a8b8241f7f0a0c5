"""What goes through a dict of losses, or reckons with sizes, and reads nothing."""

import math

import torch
from torch import nn


class Trainer(nn.Module):
    def __init__(self, net, weights):
        super().__init__()
        self.net = net.cuda()
        self.weights = weights
        self.gen_losses = {}

    def total_loss(self):
        losses = self.gen_losses
        total = torch.zeros((), device="cuda")
        for name in self.weights:
            # trap: a key of a dict
            if name in losses:
                total = total + losses[name] * self.weights[name]
        losses["total"] = total
        return total

    def training_step(self, batch, optimizer):
        crops = [self.net(x) for x in batch]
        outs = {"momentum_loss": [out.pow(2).mean() for out in crops]}
        mask = crops[0] > 0
        chosen = mask.sum().item()
        ratio = chosen / crops[0].shape[0]
        # trap: a number was read above
        wanted = math.ceil(ratio * 16)
        # trap: a few losses in a list
        self.gen_losses["made"] = sum(outs["momentum_loss"]) / len(crops)
        self.gen_losses["rest"] = crops[0][:wanted].mean()
        loss = self.total_loss()
        loss.backward()
        optimizer.step()
        if not math.isfinite(loss):  # expect: PLM068
            raise RuntimeError("diverged")
