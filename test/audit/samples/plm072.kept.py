"""Batches collected in a list, taken from an endless loader on self, or stored back into the batch."""

import torch
from torch.utils.data import DataLoader


def cycle(iterable):
    while True:
        yield from iterable


def train(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=8, pin_memory=True, num_workers=4)
    waiting = []
    for x in loader:
        waiting.append(x)
        if len(waiting) < 2:
            continue
        both = torch.cat(waiting).to("cuda")  # expect: PLM072
        waiting = []
        model(both).mean().backward()
        optimizer.step()


def train_moved(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=8, pin_memory=True, num_workers=4)
    waiting = []
    for x in loader:
        waiting.append(x.to("cuda"))
        if len(waiting) < 2:
            continue
        both = torch.cat(waiting).to("cuda")  # trap: already there
        waiting = []
        model(both).mean().backward()
        optimizer.step()


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.loader = model, optimizer, None

    def set_data(self, dataset):
        self.loader = cycle(DataLoader(dataset, batch_size=8, pin_memory=True))

    def train(self, steps):
        for _ in range(steps):
            x = torch.cat((next(self.loader), next(self.loader))).cuda()  # expect: PLM072
            self.model(x).mean().backward()
            self.optimizer.step()


def nested(struct, fn):
    return {name: fn(value) for name, value in struct.items()}


def train_dicts(dataset, model, optimizer, device):
    loader = DataLoader(dataset, batch_size=8, pin_memory=True)
    for batch in loader:
        batch["audio"] = torch.cat([batch["audio"], -batch["audio"]])  # expect: PLM072
        batch = nested(batch, lambda t: t.to(device))
        model(batch["audio"]).mean().backward()
        optimizer.step()


def train_on_host(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=8, pin_memory=True)
    for batch in loader:
        batch["audio"] = torch.cat([batch["audio"], -batch["audio"]])  # trap: nothing is sent
        model(batch["audio"]).mean().backward()
        optimizer.step()


def train_counted(dataset, model, optimizer, device, steps, main, tqdm):
    batches = iter(DataLoader(dataset, batch_size=8, pin_memory=True))
    bar = range(steps) if main else range(0, steps)
    for _ in bar:
        images, texts = next(batches)
        images = torch.stack([im for im, text in zip(images, texts) if text]).to(device)  # expect: PLM072
        model(images).mean().backward()
        optimizer.step()
