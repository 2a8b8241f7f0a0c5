"""Dicts and lists whose entries are sent to the device one by one, and that a function picks from by an array of the host."""

import numpy as np
import torch


def step(net, x, y, optimizer):
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def put_in_place(net, rows, optimizer, device):
    for key, value in rows.items():
        rows[key] = torch.from_numpy(value).to(device)
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        batch = {key: value[picked] for key, value in rows.items()}  # expect: PLM070
        step(net, batch["x"], batch["y"], optimizer)


def left_on_host(net, rows, optimizer, device):
    for key, value in rows.items():
        rows[key] = torch.from_numpy(value)
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        # trap: picked on the host, and sent after that
        batch = {key: value[picked] for key, value in rows.items()}
        step(net, batch["x"].to(device), batch["y"].to(device), optimizer)


def some_sent(net, rows, optimizer, device):
    for key, value in rows.items():
        if key == "y":
            rows[key] = torch.from_numpy(value).to(device)
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        # trap: which of them are there nobody can tell
        x = torch.from_numpy(rows["x"][picked])
        step(net, x.to(device), rows["y"][:64], optimizer)


def drawn(rows, n):
    first = list(rows.keys())[0]
    # trap: one of them by its name
    n = min(n, len(rows[first]))
    picked = np.random.randint(1000, size=n)
    return {key: value[picked] for key, value in rows.items()}  # expect: PLM070


def loaded(path, device):
    rows = dict(np.load(path))
    for key in rows:
        rows[key] = torch.as_tensor(rows[key], device=device)
    return rows


def from_a_function(net, path, optimizer):
    rows = loaded(path, torch.device("cuda"))
    for _ in range(10_000):
        batch = drawn(rows, 64)
        step(net, batch["x"], batch["y"], optimizer)


def drawn_on_host(rows, n):
    picked = np.random.randint(1000, size=n)
    # trap: handed arrays
    return {key: value[picked] for key, value in rows.items()}


def from_arrays(net, path, optimizer):
    rows = dict(np.load(path))
    for _ in range(10_000):
        batch = drawn_on_host(rows, 64)
        step(net, torch.tensor(batch["x"]).cuda(), torch.tensor(batch["y"]).cuda(), optimizer)


def drawn_of_each(tensors, n):
    picked = np.random.randint(1000, size=n)
    return [tensor[picked] for tensor in tensors]  # expect: PLM070


def of_several(net, arrays, optimizer, device):
    tensors = [torch.from_numpy(array).to(device) for array in arrays]
    for _ in range(10_000):
        x, y = drawn_of_each(tensors, 64)
        step(net, x, y, optimizer)
