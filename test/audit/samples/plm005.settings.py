import torch
from torch.nn import functional as F


def by_setting(model, loader, optimizer, cfg):
    model.train()
    pending = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        if cfg.gather:
            pending = pending + loss  # expect: PLM005
        else:
            loss.backward()
            optimizer.step()
        if cfg.gather and (i + 1) % 4 == 0:
            pending.backward()
            optimizer.step()
            optimizer.zero_grad()
            pending = 0.0


def apart(model, loader, optimizer, cfg):
    model.train()
    pending = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        if cfg.gather:
            pending = pending + loss  # expect: PLM005
        if not cfg.gather:
            loss.backward()
            optimizer.step()
        if cfg.gather and (i + 1) % 4 == 0:
            pending.backward()
            optimizer.step()
            optimizer.zero_grad()
            pending = 0.0


def both(model, loader, optimizer, cfg):
    model.train()
    shown = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        if cfg.gather:
            # trap: under another setting, which may be on as well, each turn is differentiated
            shown = shown + loss
        if cfg.amp:
            loss.backward()
            optimizer.step()
        if (i + 1) % 4 == 0:
            shown.backward()
            optimizer.zero_grad()
            shown = 0.0


def turned(model, loader, optimizer):
    model.train()
    odd = False
    shown = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        # trap: one of them comes after the other
        if odd:
            shown = shown + loss
        else:
            loss.backward(retain_graph=True)
        odd = not odd
        if (i + 1) % 4 == 0:
            shown.backward()
            optimizer.step()
            optimizer.zero_grad()
            shown = 0.0
