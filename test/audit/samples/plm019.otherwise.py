"""An evaluation whose name says nothing of one, over what is kept apart."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)

    def compute_all_losses(self, batch):
        x, y = batch
        return {"loss": F.mse_loss(self.body(x), y)}


def next_batch(batches):
    x, y = next(batches)
    return x.cuda(), y.cuda()


def mean_of_losses(model: Net, test_loader, number):
    total = 0.0
    for _ in range(number):
        batch = next_batch(test_loader)
        results = model.compute_all_losses(batch)  # likely: PLM019
        total += results["loss"].detach()
    return total / number


def mean_quietly(model: Net, test_loader, number):
    total = 0.0
    for _ in range(number):
        batch = next_batch(test_loader)
        with torch.no_grad():
            # trap: nothing is recorded
            results = model.compute_all_losses(batch)
        total += results["loss"].detach()
    return total / number


def sharpest(model: Net, test_loader, number):
    total = 0.0
    for _ in range(number):
        x, y = next_batch(test_loader)
        x.requires_grad_()
        # trap: what is wanted is its gradient
        results = model.compute_all_losses((x, y))
        total += torch.autograd.grad(results["loss"], x)[0].abs().mean().item()
    return total / number


def mean_of_frozen(model: Net, test_loader, number):
    for p in model.parameters():
        p.requires_grad = False
    total = 0.0
    for _ in range(number):
        batch = next_batch(test_loader)
        # trap: frozen, it records nothing of data
        total += model.compute_all_losses(batch)["loss"].detach()
    return total / number


def train(loader, test_loader):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for at, (x, y) in enumerate(loader):
        loss = model.compute_all_losses((x.cuda(), y.cuda()))["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if at % 1000 == 0:
            print(mean_of_losses(model, test_loader, 10), mean_quietly(model, test_loader, 10))
            print(sharpest(model, test_loader, 10))
    print(mean_of_frozen(model, test_loader, 10))
