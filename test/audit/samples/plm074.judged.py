"""Widened as it is handed to a loss, by a helper of the step."""

import torch
import torch.nn.functional as F


def losses(logits, labels, weights):
    first = F.cross_entropy(logits.to(torch.float64), labels)  # expect: PLM074
    second = torch.nn.MSELoss()(weights.double(), labels)  # expect: PLM074
    return first + second


def count(logits, labels):
    return float((logits.argmax(1) == labels).double().mean())  # trap: a count


def report(history):
    return F.mse_loss(torch.tensor(history).double(), torch.zeros(1).double())  # trap: once, on the host


def train(model, loader, optimizer):
    history = []
    for x, y in loader:
        loss = losses(model(x.cuda()), y.cuda(), model.weights)
        loss.backward()
        optimizer.step()
    report(history)
