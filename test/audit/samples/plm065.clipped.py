"""Gradients that a function scales: to a norm, or by the number of the parts."""

import torch.nn.functional as F
from grads import norm_of, scale_grad


def clipped(model, batches, optimizer, micro_batches, limit):
    while True:
        optimizer.zero_grad()
        for _ in range(micro_batches):
            x, y = next(batches)
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()  # expect: PLM065
        grad_norm = norm_of(model)
        if grad_norm > limit:
            scale_grad(model, limit / grad_norm)
        optimizer.step()


def divided(model, batches, optimizer, micro_batches):
    while True:
        optimizer.zero_grad()
        for _ in range(micro_batches):
            x, y = next(batches)
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            # trap: scaled by the number of the parts
            loss.backward()
        scale_grad(model, 1 / micro_batches)
        optimizer.step()
