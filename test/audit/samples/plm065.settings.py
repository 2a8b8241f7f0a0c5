from torch.nn import functional as F


def cleared_without(model, loader, optimizer, cfg):
    model.train()
    for i, (x, y) in enumerate(loader):
        if not cfg.accumulate:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()  # expect: PLM065
        if cfg.accumulate:
            if (i + 1) % cfg.every == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.step()


def cleared_under_another(model, loader, optimizer, cfg):
    model.train()
    for i, (x, y) in enumerate(loader):
        # trap: another setting, and with it nothing adds up
        if not cfg.private:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        if cfg.accumulate:
            if (i + 1) % cfg.every == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.step()


def divided(model, loader, optimizer, cfg):
    model.train()
    for i, (x, y) in enumerate(loader):
        if not cfg.accumulate:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        # trap: divided, where there is something to divide by
        if cfg.accumulate:
            loss = loss / cfg.every
        loss.backward()
        if cfg.accumulate:
            if (i + 1) % cfg.every == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.step()
