"""What goes through a dict of losses, or reckons with sizes, and reads nothing."""

import math

import numpy as np
import torch
from joblib import Parallel, delayed
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


def batch_score(clean, noisy, score):
    pred_score = Parallel(n_jobs=4)(delayed(score)(c, n) for c, n in zip(clean, noisy))
    # trap: of other processes
    return torch.from_numpy(np.array(pred_score))


def forward_step(net, x, noisy, score):
    loss = batch_score(x, noisy, score).mean() + net(x.cuda()).mean()
    loss.backward()
    return loss
