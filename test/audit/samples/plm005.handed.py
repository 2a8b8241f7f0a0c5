import torch


def micro(model, criterion, x, y):
    return sum(criterion(model(a), b) for a, b in zip(x.chunk(4), y.chunk(4)))  # expect: PLM005


@torch.no_grad()
def judged(model, criterion, x, y):
    # trap: nothing is recorded
    return sum(criterion(model(a), b) for a, b in zip(x.chunk(4), y.chunk(4)))


def scores(model, parts):
    # trap: nobody differentiates it
    return sum(model(a).mean() for a in parts)


def train(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = micro(model, criterion, x.cuda(), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        shown = scores(model, x.cuda().chunk(4)).item()
        print(judged(model, criterion, x.cuda(), y.cuda()), shown)
