import torch
from torch import nn


def validate(val_loader, model, device):
    criterion = nn.CrossEntropyLoss()
    losses, told = [], []
    model.eval()
    for x, y in val_loader:
        loss = criterion(model(x.to(device)), y.to(device))
        losses.append(loss)  # likely: PLM002
        # trap: a number
        told.append(loss.item())
        # trap: cut off, though what made it was recorded
        told.append(loss.detach())
    return losses, told


def validate_apart(val_loader, model, device):
    criterion = nn.CrossEntropyLoss()
    losses = []
    model.eval()
    for x, y in val_loader:
        with torch.no_grad():
            output = model(x.to(device))
        # trap: computed from what has no graph
        losses.append(criterion(output, y.to(device)))
    return losses


def main(model, loader, val_loader, criterion, optimizer, device):
    model.to(device)
    for _ in range(10):
        for x, y in loader:
            loss = criterion(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(val_loader, model, device)
        validate_apart(val_loader, model, device)
