"""An attack along the gradient of its input, which compares with what the network gives of the clean one."""

import torch
from torch import nn
from torch.nn import functional as F


def against(model, clean, targets, steps=10, size=0.007, most=0.031):
    criterion = nn.KLDivLoss(reduction="sum")
    model.eval()
    moved = clean.detach() + 0.001 * torch.randn_like(clean)
    for _ in range(steps):
        moved.requires_grad_()
        with torch.enable_grad():
            # trap: another input in each turn
            ours = F.log_softmax(model(moved), dim=1)
            loss = criterion(ours, F.softmax(model(clean), dim=1))  # likely: PLM080
        slope = torch.autograd.grad(loss, [moved])[0]
        moved = moved.detach() + size * torch.sign(slope.detach())
        moved = torch.min(torch.max(moved, clean - most), clean + most)
    model.train()
    return F.cross_entropy(model(clean), targets) + criterion(model(moved).log_softmax(1), model(clean).softmax(1))


def dropping(model, clean, targets, steps=10):
    # it stays in training mode
    moved = clean.detach().clone()
    for _ in range(steps):
        moved.requires_grad_()
        # trap: what is dropped is another each time
        loss = F.mse_loss(model(moved), model(clean))
        slope = torch.autograd.grad(loss, [moved])[0]
        moved = (moved + 0.01 * slope.sign()).detach()
    return F.cross_entropy(model(moved), targets)


def learning(model, clean, targets, steps=10):
    model.eval()
    for _ in range(steps):
        # trap: the weights are asked for their gradients, for which the graph is needed
        loss = F.mse_loss(model(clean), targets)
        slopes = torch.autograd.grad(loss, list(model.parameters()))
    return slopes


def train(model, loader, optimizer):
    for clean, targets in loader:
        optimizer.zero_grad()
        loss = against(model, clean.cuda(), targets.cuda()) + dropping(model, clean.cuda(), targets.cuda())
        loss.backward()
        learning(model, clean.cuda(), targets.cuda())
        optimizer.step()
