import torch  # noqa: F401


class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += value


def train(model, loader, optimizer, criterion, device):
    accuracy, extra = Meter(), Meter()
    for x, y in loader:
        loss, rate, aux_loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: what is told beside a loss is a number as often as not
        accuracy.update(rate)
        extra.update(aux_loss)  # expect: PLM001


def train_whole(model, loader, optimizer, device):
    hits = 0
    for x, y in loader:
        loss, wacc = model(x.to(device), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: what counts as right is counted
        hits += wacc
    return hits
