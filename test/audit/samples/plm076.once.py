import torch


def one_of(loader):
    batches = iter(loader)  # expect: PLM076
    return next(batches)


def all_of(loader):
    # trap: gone through to its end
    batches = iter(loader)
    return torch.cat([next(batches) for _ in range(len(loader))])


def begun(loader):
    # trap: handed out
    batches = iter(loader)
    return next(batches), batches


def train(model, loader, other_loader, optimizer):
    for x in loader:
        loss = model(x).mean() + model(one_of(other_loader)).mean() + model(all_of(other_loader)).mean()
        first, rest = begun(other_loader)
        loss = loss + model(first).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
