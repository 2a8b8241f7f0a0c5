"""Loops that hand their step to a timer, and join the batch in a function of their own."""

import torch
from timing import timed
from torch.utils.data import DataLoader

from data import make_clips


def main(net, optimizer, epochs, length, device, rows):
    train_loader, sampler = make_clips(rows, pin_memory=True)
    batches = iter(train_loader)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for at in range(length):
            clips, masks = next(batches)

            def load():
                joined = torch.cat(clips[0], dim=0).to(device, non_blocking=True)  # likely: PLM072
                # trap: moved before they are joined
                masked = torch.cat([mask.to(device, non_blocking=True) for mask in masks])
                return joined, masked

            x, mask = load()

            def train_step():
                loss = (net(x) * mask).mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                return float(loss)

            loss, ms = timed(train_step)
            # trap: never sent
            seen = torch.cat(clips[1]).sum()


def retried(net, optimizer, rows, device, run):
    loader = DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)

    def take(x):
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for batch in loader:
        x = torch.cat(batch["views"]).to(device, non_blocking=True)  # likely: PLM072
        run(take, x)


def judged(net, rows, device):
    loader = DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)
    for batch in loader:
        # trap: nothing is learned
        x = torch.cat(batch["views"]).to(device, non_blocking=True)
        print(timed(net, x))


def spawned(net, optimizer, folds, device, start):
    def learn():
        for batch in DataLoader(folds[0], batch_size=8):
            net(batch.to(device)).mean().backward()
            optimizer.step()

    for fold in folds:
        # trap: once for each training
        x = torch.cat(fold["views"]).to(device, non_blocking=True)
        start(learn, x)
