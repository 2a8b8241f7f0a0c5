import numpy as np
import torch
from torch.nn import functional as F


def train(model, loader, optimizer):
    history = []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss)  # expect: PLM002
    return history


def reduced_into_loss(model, views, optimizer):
    # trap: the list becomes the loss
    losses = []
    for view in views:
        loss = F.mse_loss(model(view), view)
        losses.append(loss)
    torch.stack(losses).mean().backward()
    optimizer.step()


def numbers(model, loader):
    history = []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        # trap: a number, and a detached tensor
        history.append(loss.item())
        history.append(loss.detach())
    return history


def per_step_list(model, loader, optimizer):
    for x, y in loader:
        # trap: dies with the turn
        parts = []
        loss = F.cross_entropy(model(x), y)
        parts.append(loss)
        loss.backward()


def terms(model, x, targets, weights):
    loss, parts = 0.0, []
    for weight, y in zip(weights, targets):
        part = F.cross_entropy(model(x), y)
        loss += weight * part
        # trap: also a term of what is differentiated, whose backward frees it
        parts.append(part)
    loss.backward()
    print(len(parts))


def divergences(model, bound, loader, optimizer, beta_kl):
    history = []
    for x in loader:
        bce, kl = bound(model, x)
        loss = bce + beta_kl * kl
        loss.backward()
        optimizer.step()
        history.append(kl)  # expect: PLM002
        # trap: the weight of a term is no term
        history.append(beta_kl)
    return history


def probe(heads, optimizers, loader, features):
    for x, y in loader:
        losses = []
        for head, optimizer in zip(heads, optimizers):
            loss = F.cross_entropy(head(features(x)), y)
            loss.backward()
            optimizer.step()
            # trap: one for each head, of this step
            losses.append(loss)
        print(len(losses))


def train_and_save(model, loader, optimizer, loss_of):
    seen = []
    for x, y in loader:
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        # trap: a number, or NumPy would not take it
        seen.append(loss)
        np.save("seen.npy", np.array(seen))
