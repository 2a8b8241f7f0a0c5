import torch


class Hits:
    def __init__(self):
        self.rows, self.wanted = [], []

    def update(self, rows, wanted):
        self.rows.append(rows)
        self.wanted.append(wanted)

    def compute(self):
        return (torch.cat(self.rows).argmax(1) == torch.cat(self.wanted)).float().mean()


class Counts:
    def __init__(self):
        self.rows = []

    def update(self, rows):
        self.rows.append(rows.cpu())


@torch.no_grad()
def evaluate(model, val_loader, device):
    model.eval()
    hits, counts = Hits(), Counts()
    for x, y in val_loader:
        out = model(x.to(device))
        hits.update(out, y.to(device))  # expect: PLM003
        # trap: it copies them to the host itself
        counts.update(out)
    return hits.compute().item(), counts


@torch.no_grad()
def rows(model, loader, dataset, device):
    model.eval()
    kept = torch.zeros(len(dataset), 1000, device=device)
    # trap: on the host
    far = torch.zeros(len(dataset), 1000)
    # trap: as many as are looked at
    few = torch.zeros(16, 1000, device=device)
    start = 0
    for x, y in loader:
        out = model(x.to(device))
        kept[start : start + len(x)] = out  # expect: PLM003
        far[start : start + len(x)] = out
        few[: len(x)] = out
        start += len(x)
    return kept, far, few


@torch.no_grad()
def named(model, loader):
    model.eval()
    store = {"boxes": [], "masks": []}
    for batch in loader:
        out = model(batch.cuda())
        for key in ("boxes", "masks"):
            store[key].append(out[key])  # expect: PLM003
    return store
