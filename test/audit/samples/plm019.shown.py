"""Pictures that are made after the steps of an epoch."""

import torch
from torch.nn import functional as F
from torchvision.utils import save_image


def train(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        again, _, _ = net(x)  # expect: PLM019
        save_image(torch.cat([x, again]), f"{epoch}.png")


def careful(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            # trap: nothing is recorded
            again, _, _ = net(x)
        save_image(torch.cat([x, again]), f"{epoch}.png")


def refined(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        # trap: it learns from it as well
        again, _, _ = net(x)
        save_image(again, f"{epoch}.png")
        F.mse_loss(again, x).backward()
        optimizer.step()
