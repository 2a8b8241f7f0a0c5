import torch
from torch.utils.data import DataLoader


def train_epoch(model, loader, optimizer, every):
    step = 0
    for step, x in enumerate(loader, start=1):
        model(x).sum().backward()
        if step % every == 0:
            optimizer.step()
            optimizer.zero_grad()
    if step % every != 0:
        optimizer.step()
        optimizer.zero_grad()


def main(model, data, optimizer, skip):
    for epoch in range(10):
        # trap: what calls this goes through epochs, though a step is taken after the loop
        loader = DataLoader(data, batch_sampler=skip(epoch), pin_memory=True)
        train_epoch(model, loader, optimizer, 4)
