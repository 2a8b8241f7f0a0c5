"""Joined of several batches, and by helpers that hand them back."""

import torch
from torch.utils.data import DataLoader


def with_mirrored(image, mask):
    image = torch.cat((image, image.flip(-1)))  # expect: PLM072
    mask = torch.cat((mask, mask.flip(-1)))  # expect: PLM072
    return image, mask


def with_zeros(image):
    # trap: kept on the host by one of those who call it
    wide = torch.cat((image, image * 0))
    return wide


def train(net, data, optimizer):
    loader = DataLoader(data, batch_size=8, num_workers=4, pin_memory=True)
    for image, mask in loader:
        image, mask = with_mirrored(image, mask)
        image = image.to("cuda", non_blocking=True)
        loss = net(image).mean() + mask.to("cuda", non_blocking=True).mean()
        loss = loss + net(with_zeros(image).to("cuda")).mean()
        print(with_zeros(mask).sum())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def gather(net, data, optimizer, steps):
    taken = iter(DataLoader(data, batch_size=8, num_workers=4, pin_memory=True))
    for step in range(steps):
        parts = [next(taken) for _ in range(4)]
        rows = torch.cat(parts).to("cuda")  # expect: PLM072
        sent = [next(taken).to("cuda") for _ in range(4)]
        # trap: on the device by then
        others = torch.cat(sent).to("cuda")
        made = [net(part.to("cuda")) for part in parts]
        # trap: what a network made of them
        outs = torch.cat(made).to("cuda")
        loss = net(rows).mean() + net(others).mean() + outs.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
