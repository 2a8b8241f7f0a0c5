"""Steps that hand back what their network gave to go on with."""

import torch
import torch.nn.functional as F


def step(model, x, y, past):
    out, past = model(x, past)
    loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
    loss.backward(retain_graph=True)
    return loss.detach(), past


def plain(model, x, y, past):
    out, past = model(x, past)
    loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
    loss.backward()
    return loss.detach(), past


def begun(model, x, y, past):
    past = [torch.zeros_like(one) for one in past]
    out, past = model(x, past)
    loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
    loss.backward(retain_graph=True)
    return loss.detach(), past


def train(model, optimizer, x, y, past):
    for part, wanted in zip(x.chunk(2, 1), y.chunk(2, 1)):
        loss, past = step(model, part, wanted, past)  # expect: PLM006
    optimizer.step()
    optimizer.zero_grad()
    return [one.detach() for one in past], loss


def cut(model, optimizer, x, y, past):
    for part, wanted in zip(x.chunk(2, 1), y.chunk(2, 1)):
        # trap: cut off after each part
        loss, past = step(model, part, wanted, past)
        past = [one.detach() for one in past]
    optimizer.step()
    optimizer.zero_grad()
    return past, loss


def trusted(model, optimizer, x, y, past):
    for part, wanted in zip(x.chunk(2, 1), y.chunk(2, 1)):
        # trap: who keeps no graph has a model that cuts it off
        loss, past = plain(model, part, wanted, past)
    optimizer.step()
    optimizer.zero_grad()
    return past, loss


def anew(model, optimizer, x, y, past):
    for part, wanted in zip(x.chunk(2, 1), y.chunk(2, 1)):
        # trap: begun anew by the step
        loss, past = begun(model, part, wanted, past)
    optimizer.step()
    optimizer.zero_grad()
    return past, loss
