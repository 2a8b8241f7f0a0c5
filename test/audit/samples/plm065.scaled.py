import torch
import torch.nn.functional as F


def sums(model, loader, optimizer, accumulate, compute_loss):
    for i, (x, y) in enumerate(loader):
        loss, parts = compute_loss(model(x), y)
        loss.backward()  # expect: PLM065
        # trap: a step with what is left follows the loop
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()


def divided(model, batches, optimizer, micro_batches):
    while True:
        optimizer.zero_grad()
        for _ in range(micro_batches):
            x, y = next(batches)
            # trap: the gradients are divided below
            F.cross_entropy(model(x), y).backward()
        for p in model.parameters():
            p.grad.div_(micro_batches)
        optimizer.step()


def weighted(model, loader, optimizer, accumulate):
    for i, (x, y, weight) in enumerate(loader):
        each = F.cross_entropy(model(x), y, reduction="none")
        loss = (each * weight).sum() / weight.sum()
        loss.backward()  # expect: PLM065
        if (i + 1) % accumulate == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def shared(model, loader, optimizer, accumulate, share_weight):
    for i, (x, y, weight) in enumerate(loader):
        each = F.cross_entropy(model(x), y, reduction="none")
        # trap: the weight of the whole may well be the share of a turn
        loss = (each * weight).sum() / weight.sum() * share_weight
        loss.backward()
        if (i + 1) % accumulate == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
