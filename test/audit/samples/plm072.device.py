"""Loaders that pin where there is a device to pin for."""

import torch
from torch.utils.data import DataLoader


def on_gpu(device):
    return device.startswith("cuda")


def loader_for(dataset, device):
    sampler = torch.utils.data.RandomSampler(dataset)
    return DataLoader(dataset, batch_size=8, num_workers=2, sampler=sampler, pin_memory=on_gpu(device)), sampler


def asked(dataset, model, optimizer, use_cuda):
    device = torch.device("cuda")
    for x, y in DataLoader(dataset, batch_size=8, num_workers=2, pin_memory=use_cuda):
        both = torch.stack((x, y)).to(device, non_blocking=True)  # expect: PLM072
        loss = model(both[0], both[1])
        loss.backward()
        optimizer.step()


def unlike_host(dataset, model, optimizer):
    device = torch.device("cuda")
    for x, y in DataLoader(dataset, batch_size=8, num_workers=2, pin_memory=device.type != "cpu"):
        both = torch.stack((x, y)).to(device)  # expect: PLM072
        loss = model(both[0], both[1])
        loss.backward()
        optimizer.step()


def never(dataset, model, optimizer, no_cuda):
    device = torch.device("cuda")
    # trap: pinned only where there is no device
    for x, y in DataLoader(dataset, batch_size=8, num_workers=2, pin_memory=no_cuda):
        both = torch.stack((x, y)).to(device)
        loss = model(both[0], both[1])
        loss.backward()
        optimizer.step()


def held(dataset, model, optimizer, cuda_cache):
    device = torch.device("cuda")
    # trap: not where the data are on the device already
    for x, y in DataLoader(dataset, batch_size=8, num_workers=2, pin_memory=not cuda_cache):
        both = torch.stack((x, y)).to(device)
        loss = model(both[0], both[1])
        loss.backward()
        optimizer.step()


def taken(dataset, model, optimizer, steps):
    device = torch.device("cuda")
    loader, _ = loader_for(dataset, "cuda")
    batches = iter(loader)
    for _ in range(steps):
        x, y = next(batches)
        both = torch.stack((x, y)).to(device, non_blocking=True)  # expect: PLM072
        # trap: joined on the device
        again = torch.stack((x.to(device), y.to(device)))
        loss = model(both[0], both[1], again)
        loss.backward()
        optimizer.step()
