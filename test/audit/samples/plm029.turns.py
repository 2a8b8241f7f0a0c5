import numpy as np
import torch
import torch.nn.functional as F

from ranks import reduced


def train(model, criterion, loader, optimizer, names):
    model = model.cuda()
    boxes, classes, seen = 0.0, 0.0, []
    for x, y in loader:
        losses = criterion(model(x.cuda()), y.cuda())
        total = losses["loss"]
        told = reduced(losses)
        boxes += told["loss_box"].item()  # expect: PLM029
        classes += told["loss_class"].item()
        penalty = model(x.cuda()).square().mean()
        spread = model(x.cuda()).std()
        for value in (penalty, spread):
            seen.append(float(value))  # expect: PLM029
        for name, value in zip(names, (penalty, spread)):
            seen.append((name, value.item()))  # expect: PLM029
        seen.append({k: float(v) for k, v in (("penalty", penalty), ("spread", spread))})  # expect: PLM029
        # trap: Python numbers
        for value in (0.5, boxes):
            seen.append(float(value))
        # trap: of an option
        seen.append({k: float(v) for k, v in (("rate", "0.1"), ("decay", "0.2"))})
        total.backward()
        optimizer.step()
        optimizer.zero_grad()


def train_by_parts(model, criterion, loader, optimizer, names):
    model = model.cuda()
    totals = dict.fromkeys(names, 0.0)
    for x, y in loader:
        loss, losses = criterion(model(x.cuda()), y.cuda())
        for name, value in zip(names, losses):
            totals[name] += value.item()  # expect: PLM029
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def train_with_one(model, criterion, loader, optimizer, steps):
    model = model.cuda()
    seen = []
    for x, y in loader:
        told = reduced(criterion(model(x.cuda()), y.cuda()))
        # trap: one read is one transfer, and the other is of an array
        seen.append(told["loss_box"].item())
        order = np.arange(steps)
        seen.append(order.mean().item())
        told["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
