"""Dicts that a step hands back."""

import torch
import torch.nn.functional as F
import wandb

device = torch.device("cuda")


def step(net, x, y, optimizer):
    parts = dict()
    loss = F.cross_entropy(net(x), y)
    parts["loss"] = loss.detach()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return dict(lr=optimizer.param_groups[0]["lr"], **parts)


def told_step(net, x, y, optimizer):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    told = {"loss": loss}
    told["loss"] = loss.item()
    return told


def two_step(net, x, y, optimizer):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return {"loss": loss.detach(), "size": x.size(0)}, x


def train(net, loader, optimizer):
    net.to(device)
    for at, (x, y) in enumerate(loader):
        metrics = step(net, x.to(device), y.to(device), optimizer)
        wandb.log(metrics, step=at)  # expect: PLM069


def train_parts(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        parts, _ = two_step(net, x.to(device), y.to(device), optimizer)
        wandb.log({"step": at, **parts})  # expect: PLM069


def train_keys(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        parts = step(net, x.to(device), y.to(device), optimizer)
        wandb.log({f"train/{k}": v for k, v in parts.items()}, step=at)  # expect: PLM069


def train_at_once(net, loader, optimizer):
    for x, y in loader:
        wandb.log(step(net, x.to(device), y.to(device), optimizer))  # expect: PLM069


def train_told(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        metrics = told_step(net, x.to(device), y.to(device), optimizer)
        # trap: a number by then
        wandb.log(metrics, step=at)


def train_seldom(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        metrics = step(net, x.to(device), y.to(device), optimizer)
        if at % 50 == 0:
            # trap: now and then
            wandb.log(metrics, step=at)


def train_read(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        metrics = step(net, x.to(device), y.to(device), optimizer)
        if at % 50:
            continue
        metrics["loss"] = metrics["loss"].item()
        # trap: read now and then
        wandb.log(metrics, step=at)


def train_numbers(net, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        metrics = step(net, x.to(device), y.to(device), optimizer)
        metrics["loss"] = metrics["loss"].item()
        # trap: made a number above
        wandb.log(metrics, step=at)
