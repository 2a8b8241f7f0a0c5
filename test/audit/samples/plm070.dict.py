import numpy as np
import torch


def to_tensors(arrays, device):
    return {key: torch.as_tensor(value).to(device) for key, value in arrays.items()}


def step(net, batch, optimizer):
    net(batch["state"]).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def by_function(net, load, optimizer, device):
    rows = load()
    rows["gain"] = rows["gain"] * 2
    rows = to_tensors(rows, device)
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        batch = {key: value[picked] for key, value in rows.items()}  # expect: PLM070
        step(net, batch, optimizer)


def written_down(net, arrays, optimizer, device):
    rows = {key: torch.as_tensor(value).to(device) for key, value in arrays.items()}
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        batch = {"state": rows["state"][picked]}  # expect: PLM070
        step(net, batch, optimizer)


def on_host(net, load, optimizer, device):
    rows = load()
    for _ in range(10_000):
        picked = np.random.randint(1000, size=64)
        # trap: picked among arrays, and sent after that
        batch = {key: value[picked] for key, value in rows.items()}
        step(net, to_tensors(batch, device), optimizer)


def drawn_there(net, load, optimizer, device):
    rows = to_tensors(load(), device)
    for _ in range(10_000):
        picked = torch.randint(1000, (64,), device=device)
        # trap: the index is where the rows are
        batch = {key: value[picked] for key, value in rows.items()}
        step(net, batch, optimizer)
