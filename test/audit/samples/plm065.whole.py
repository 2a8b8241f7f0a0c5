"""A batch in parts of a given size: by the mean of each, or by the sum over all samples."""

import math

import torch.nn.functional as F


def means(model, loader, optimizer, settings):
    for x, y in loader:
        optimizer.zero_grad()
        for part in range((settings["batch"] - 1) // settings["micro"] + 1):
            at = slice(part * settings["micro"], (part + 1) * settings["micro"])
            loss = F.mse_loss(model(x[at].cuda()), y[at].cuda(), reduction="none").mean()
            loss.backward()  # expect: PLM065
        optimizer.step()


def sums(model, loader, optimizer, settings):
    for x, y in loader:
        optimizer.zero_grad()
        for part in range((settings["batch"] - 1) // settings["micro"] + 1):
            at = slice(part * settings["micro"], (part + 1) * settings["micro"])
            # trap: its share of the mean over the whole batch
            loss = F.mse_loss(model(x[at].cuda()), y[at].cuda(), reduction="none").sum() / settings["batch"]
            loss.backward()
        optimizer.step()


def rounded(model, loader, optimizer, micro_size):
    for x, y in loader:
        optimizer.zero_grad()
        parts = math.ceil(len(x) / micro_size)
        for part in range(parts):
            at = slice(part * micro_size, (part + 1) * micro_size)
            each = F.cross_entropy(model(x[at].cuda()), y[at].cuda(), reduction="none")
            loss = each.sum()
            # trap: the same, of a number of parts that has a name
            loss /= len(x)
            loss.backward()
        optimizer.step()


def others(model, loader, optimizer, batch_size, micro_size, logger):
    for x, y in loader:
        optimizer.zero_grad()
        for part in range(batch_size // micro_size):
            at = slice(part * micro_size, (part + 1) * micro_size)
            loss = F.cross_entropy(model(x[at].cuda()), y[at].cuda())
            loss.backward()  # expect: PLM065
            logger.log(part / batch_size_of(x))
        optimizer.step()


def batch_size_of(x):
    return x.shape[0]
