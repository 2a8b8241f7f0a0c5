"""Views that are joined on the host into a few tensors, which are sent one by one."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def train(net: nn.Module, data, optimizer):
    loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True)
    for views, _ in loader:
        views = [torch.cat(views[:2]), torch.cat(views[2:])]  # expect: PLM072, PLM072
        views = [view.cuda(non_blocking=True) for view in views]
        loss = sum(net(view).mean() for view in views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def grouped(net: nn.Module, data, optimizer, device="cuda"):
    loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True)
    for views, _ in loader:
        groups = [torch.cat(some) for some in (views[:2], views[2:])]  # expect: PLM072
        loss = 0.0
        for group in groups:
            loss = loss + net(group.to(device, non_blocking=True)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def by_name(net: nn.Module, data, optimizer, device="cuda"):
    loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True)
    for weak, strong, y in loader:
        batch = {"x": torch.cat([weak, strong]), "y": y}  # expect: PLM072
        batch = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
        loss = nn.functional.cross_entropy(net(batch["x"]), batch["y"].repeat(2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def afterwards(net: nn.Module, data, optimizer):
    loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True)
    for views, _ in loader:
        views = [view.cuda(non_blocking=True) for view in views]
        # trap: joined on the device
        views = [torch.cat(views[:2]), torch.cat(views[2:])]
        loss = sum(net(view).mean() for view in views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def shown(net: nn.Module, data, optimizer, writer):
    loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True)
    for views, _ in loader:
        # trap: for a picture, on the host
        sheets = [torch.cat(views[:2]), torch.cat(views[2:])]
        for sheet in sheets:
            writer.add_images("views", sheet)
        loss = sum(net(view.cuda(non_blocking=True)).mean() for view in views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
