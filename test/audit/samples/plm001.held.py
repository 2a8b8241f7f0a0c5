from collections import defaultdict

import torch


class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n


class Latest:
    def __init__(self):
        self.value = None

    def update(self, value):
        self.value = value


def fit(model, loader, criterion, optimizer, parts):
    model = model.cuda()
    meters = {name: Average() for name in parts}
    meters["total"] = Average()
    by_name = defaultdict(Average)
    heads = [Average() for _ in parts]
    shown = {"loss": Latest()}
    mixed = {"loss": Average()}
    mixed["now"] = Latest()
    config = {}
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters["total"].update(loss)  # expect: PLM001
        by_name["train"].update(loss)  # expect: PLM001
        heads[0].update(loss, len(x))  # expect: PLM001
        # trap: cut off
        meters["cut"].update(loss.detach())
        # trap: keeps nothing but the last
        shown["loss"].update(loss)
        # trap: some keep only the last
        mixed["now"].update(loss)
        # trap: a dict of dicts
        config["run"].update(loss)
    return meters, by_name, heads, shown, mixed


def other(model, loader, criterion, optimizer, meters):
    model = model.cuda()
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: handed in, of whatever class
        meters["total"].update(loss)
    return meters
