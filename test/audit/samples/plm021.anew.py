import torch


def train(model, loader, optimizer, criterion):
    model.cuda()
    for x, y in loader:
        for p in model.parameters():
            p.grad = torch.zeros_like(p)  # expect: PLM021
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
        for p in model.parameters():
            # trap: freed
            p.grad = None


def first(model):
    for p in model.parameters():
        # trap: only where there is none
        if p.grad is None:
            p.grad = torch.zeros_like(p)
