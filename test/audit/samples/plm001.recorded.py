import torch
from torch import nn


class Average:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n


def validate(val_loader, model, device):
    criterion = nn.CrossEntropyLoss()
    meter, kept = Average(), Average()
    total, told, correct = 0.0, 0.0, 0
    model.eval()
    for x, y in val_loader:
        output = model(x.to(device))
        loss = criterion(output, y.to(device))
        meter.update(loss, len(x))  # likely: PLM001
        total += loss  # likely: PLM001
        # trap: numbers
        kept.update(loss.item(), len(x))
        told += loss.item()
        # trap: counted, without a derivative
        correct += (output.argmax(1) == y.to(device)).sum()
    return meter, kept, total, told, correct


def validate_apart(val_loader, model, device):
    criterion = nn.CrossEntropyLoss()
    total = 0.0
    model.eval()
    for x, y in val_loader:
        with torch.no_grad():
            output = model(x.to(device))
        # trap: computed from what has no graph
        total += criterion(output, y.to(device))
    return total


@torch.no_grad()
def validate_unrecorded(val_loader, model, device):
    criterion = nn.CrossEntropyLoss()
    total = 0.0
    model.eval()
    for x, y in val_loader:
        # trap: nothing is recorded
        total += criterion(model(x.to(device)), y.to(device))
    return total


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
        validate_unrecorded(val_loader, model, device)
