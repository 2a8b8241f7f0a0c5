import torch
import torch.nn.functional as F


def after_backward(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss  # expect: PLM001
    return total / len(loader)


def spelled_out(model, loader, criterion, optimizer):
    running = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running = running + loss * x.size(0)  # expect: PLM001
    print(running)


def feeds_backward(model, batches, optimizer):
    # trap: the sum is what is differentiated
    total = 0
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        total += loss
    total.backward()
    optimizer.step()


def regularised(model, batches, optimizer, penalty):
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        # trap: made and used within one turn
        total = 0
        for p in model.parameters():
            total += penalty * p.pow(2).sum()
        loss = loss + total
        loss.backward()
        optimizer.step()


def already_number(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        # trap: a Python number
        total += loss.item()
        # trap: cut off
        total += loss.detach()
    return total


def returned_for_backward(modules):
    # trap: the caller differentiates what comes back
    total = 0.0
    for module in modules:
        total += torch.mean(module.weight**2)
    return total


def counting(model, loader, optimizer):
    seen = 0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        # trap: not a tensor with a graph
        seen += 1


def accumulate(model, loader, optimizer, every):
    running = 0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        # trap: begun anew at every step of the optimizer
        running += loss
        loss.backward()
        if step % every == 0:
            optimizer.step()
            running = 0


def hits_and_loss(model, loader, optimizer):
    total, hits = 0.0, 0
    for x, y in loader:
        loss, batch_hits = model(x, y)
        # trap: a count has no graph
        hits += batch_hits
        total += loss  # expect: PLM001
        loss.backward()
        optimizer.step()
    return hits, total
