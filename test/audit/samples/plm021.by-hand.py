import torch


def train(model, loader, optimizer, criterion):
    model.cuda()
    for x, y in loader:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()  # expect: PLM021
        criterion(model(x.cuda()), y.cuda()).backward()
        largest = max(p.grad.abs().max().item() for p in model.parameters())
        for p in model.parameters():
            # trap: thrown away, not to be stepped with
            if 1e6 < largest:
                p.grad.data.zero_()
            else:
                p.grad.data.mul_(100 / max(100, largest))
        for p in model.parameters():
            # trap: the same by what they are
            if torch.isnan(p.grad).any():
                p.grad.zero_()
        optimizer.step()


def by_groups(model, loader, optimizer, criterion):
    for x, y in loader:
        for group in optimizer.param_groups:
            for p in group['params']:
                if p.grad is not None:
                    p.grad.zero_()  # expect: PLM021
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


def filled(model, loader, optimizer, criterion):
    for x, y in loader:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.data.fill_(0)  # expect: PLM021
        criterion(model(x.cuda()), y.cuda()).backward()
        for p in model.parameters():
            # trap: made smaller, not thrown away
            p.grad.mul_(0.5)
        optimizer.step()
