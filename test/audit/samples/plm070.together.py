import numpy as np
import torch


def step(net, states, gains, optimizer):
    (net(states) * gains).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def gathered(net, states, gains, optimizer, device):
    put = lambda rows: torch.stack(rows).to(device).detach()
    states, gains = put(states), put(gains)
    kept = (gains, gains.abs())
    kept = tuple(t[:1000] for t in kept)
    order = np.random.permutation(1000)
    for start in range(0, 1000, 50):
        rows = order[start : start + 50]
        first, second = (t[rows] for t in kept)  # expect: PLM070
        step(net, first, second, optimizer)


def mapped(net, states, gains, optimizer, device):
    states, gains = states.to(device), gains.to(device)
    for _ in range(10_000):
        rows = np.random.randint(1000, size=64)
        first, second = map(lambda t: t[rows], (states, gains))  # expect: PLM070
        step(net, first, second, optimizer)


def windows(net, text, optimizer, device):
    text = torch.tensor(text).to(device)
    for _ in range(10_000):
        places = np.random.randint(1000, size=(64, 1)) + np.arange(128)
        step(net, text[places], text[places + 1], optimizer)  # expect: PLM070


def on_host(net, states, gains, optimizer, device):
    kept = (torch.tensor(states), torch.tensor(gains))
    for _ in range(10_000):
        rows = np.random.randint(1000, size=64)
        # trap: picked on the host, and sent after that
        first, second = (t[rows].to(device) for t in kept)
        step(net, first, second, optimizer)


def of_numbers(net, states, gains, optimizer, device):
    states, gains = states.to(device), gains.to(device)
    for start in range(0, 1000, 50):
        end = start + 50
        # trap: a slice needs no index
        first, second = (t[start:end] for t in (states, gains))
        step(net, first, second, optimizer)


def one_of_them(net, states, gains, optimizer, device):
    states, gains = states.to(device), gains.to(device)
    for _ in range(10_000):
        place = np.random.randint(1000)
        # trap: one number
        step(net, states[place], gains[place + 1], optimizer)


class Kept:
    def __init__(self, arrays, device):
        self.device = device
        self.rows = {}
        for key, array in arrays.items():
            self.rows[key] = torch.as_tensor(array).to("cuda")

    def train(self, net, optimizer):
        for _ in range(10_000):
            picked = np.random.randint(1000, size=64)
            batch = {key: self.rows[key][picked] for key in self.rows}  # expect: PLM070
            step(net, batch["state"], batch["gain"], optimizer)
