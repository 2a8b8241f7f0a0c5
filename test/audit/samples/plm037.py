import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def train(model, data, optimizer):
    loader = DataLoader(data, batch_size=8, pin_memory=True)
    plain = DataLoader(data, batch_size=8)
    for x, y in loader:
        x = x.to(device)  # expect: PLM037
        # trap: does not wait
        y = y.to(device, non_blocking=True)
        model(x, y).backward()
        optimizer.step()
    for x, y in plain:
        # trap: nothing is pinned
        x = x.to(device)
        model(x, y).backward()
        optimizer.step()
    for x, y in loader:
        model(x, y).backward()
        optimizer.step()
        # trap: to the host, where it would be wrong
        print(y.to("cpu"))


def measure_memory(model, data, optimizer):
    # trap: one step, to look at it
    for x in DataLoader(data, pin_memory=True):
        model(x.to("cuda")).sum().backward()
        optimizer.step()
        break


def nested(model, data, optimizer):
    loader = DataLoader(data, batch_size=8, pin_memory=True)
    for batch in loader:
        batch = apply(batch, lambda t: t.to(device))  # expect: PLM037
        # trap: what it goes through is not the batch alone
        rest = apply(optimizer.state, lambda t: t.to(device))
        model(batch, rest).backward()
        optimizer.step()


def train_checked(model, data, optimizer):
    loader = DataLoader(data, batch_size=8, pin_memory=True)
    for x, y in loader:
        # trap: the host waits for the copies below anyway (notes)
        x, y = x.to(device), y.to(device)  # expect: PLM037, PLM037
        assert x.max() <= 1
        model(x, y).backward()
        optimizer.step()
