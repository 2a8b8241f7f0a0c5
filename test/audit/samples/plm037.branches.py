import torch
import webdataset as wds
from torch.utils.data import DataLoader


def step(net, x, optimizer):
    loss = net(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def either(net, rows, optimizer, streamed, device="cuda"):
    if streamed:
        loader = wds.WebLoader(rows, num_workers=2)
    else:
        loader = DataLoader(rows, num_workers=4, pin_memory=True)
    for batch in loader:
        step(net, batch["image"].to(device), optimizer)  # expect: PLM037


def neither(net, rows, optimizer, streamed, device="cuda"):
    if streamed:
        loader = wds.WebLoader(rows, num_workers=2)
    else:
        loader = DataLoader(rows, num_workers=4, pin_memory=False)
    for batch in loader:
        # trap: no branch pins
        step(net, batch["image"].to(device), optimizer)


def by_setting(net, rows, optimizer, cfg, device="cuda"):
    loader = DataLoader(rows, num_workers=4, pin_memory=cfg.loader.pin_memory)
    for batch in loader:
        for name, part in batch.items():
            batch[name] = part.to(device)  # expect: PLM037
        step(net, batch["image"], optimizer)


def by_other(net, rows, optimizer, cfg, device="cuda"):
    loader = DataLoader(rows, num_workers=4, pin_memory=cfg.loader.fast)
    for batch in loader:
        # trap: who knows what that setting is
        step(net, batch["image"].to(device), optimizer)


class Rows:
    def __init__(self, rows, pin_memory=False):
        self._loader = DataLoader(rows, num_workers=4, pin_memory=pin_memory)

    @property
    def loader(self):
        return self._loader


class PlainRows:
    def __init__(self, rows, pin_memory=False):
        self._loader = DataLoader(rows, num_workers=4, pin_memory=pin_memory)

    @property
    def loader(self):
        return self._loader


def of_property(net, rows, optimizer, device="cuda"):
    data = Rows(rows, pin_memory=True)
    for x in data.loader:
        step(net, x.to(device), optimizer)  # expect: PLM037


def of_plain(net, rows, optimizer, device="cuda"):
    data = PlainRows(rows)
    for x in data.loader:
        # trap: nobody asks this one to pin
        step(net, x.to(device), optimizer)
