import torch


@torch.no_grad()
def halves(model, loader):
    found = {0: torch.zeros(0, 8).cuda(), 1: torch.zeros(0, 8).cuda()}
    for at, x in enumerate(loader):
        found[at % 2] = torch.cat([found[at % 2], model(x.cuda())])  # expect: PLM045
    return found


@torch.no_grad()
def by_layer(model, names, loader):
    kept = {}
    for x in loader:
        out = model(x.cuda())
        for name in names:
            if name not in kept:
                kept[name] = out[name]
            else:
                kept[name] = torch.cat((kept[name], out[name]))  # expect: PLM045
    return kept


def joined(layers, x, skips):
    for at, layer in enumerate(layers):
        x = layer(x.cuda())
        # trap: another entry each turn
        skips[at] = torch.cat([skips[at], x])
    return skips


@torch.no_grad()
def windows(model, loader, names):
    for x in loader:
        rows = {name: torch.zeros(0, 8).cuda() for name in names}
        for name in names:
            # trap: begun anew for each batch
            rows[name] = torch.cat([rows[name], model(x.cuda())])
        yield rows


@torch.no_grad()
def talk(model, ids, length):
    past = [torch.zeros(1, 0, 8).cuda(), torch.zeros(1, 0, 8).cuda()]
    for _ in range(length):
        for layer in (0, 1):
            # trap: each turn reads the whole
            past[layer] = torch.cat([past[layer], model(ids, past[layer])], 1)
        ids = model(ids, past[0])
    return ids


def paired(batch):
    joined = {}
    for key in batch:
        if key.startswith("first"):
            joined[key[5:]] = batch[key].cuda()
    for key in batch:
        if key.startswith("second"):
            word = key[6:]
            # trap: another key each turn, which was there once
            joined[word] = torch.cat((joined[word], batch[key].cuda()))
    return joined


class Kept:
    def __init__(self):
        self.rows = None
        self.last = None

    def add(self, out):
        if self.rows is None:
            self.rows = out
        else:
            self.rows = torch.cat((self.rows, out))  # expect: PLM045

    def window(self, out):
        if self.last is None:
            self.last = out
        else:
            # trap: cut again below
            self.last = torch.cat((self.last, out))
        self.last = self.last[-8:]


@torch.no_grad()
def collect(model, loader):
    kept = Kept()
    for x in loader:
        out = model(x.cuda())
        kept.add(out)
        kept.window(out)
    return kept
