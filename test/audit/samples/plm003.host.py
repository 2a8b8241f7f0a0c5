"""What becomes of the outputs decides whether they can be moved to the host."""

import numpy as np
import torch
import torch.distributed as dist

device = torch.device("cuda")


@torch.no_grad()
def arrays(model, loader):
    model.eval().cuda()
    kept, rows = [], []
    for batch in loader:
        # trap: what NumPy joins is on the host
        kept.append(model(batch))
        rows.append(model(batch.to(device)))  # expect: PLM003
    return np.concatenate(kept), torch.cat(rows).float().cpu().numpy()


@torch.no_grad()
def detected(model, loader):
    model.eval().cuda()
    results = []
    for data in loader:
        result = model(return_loss=False, rescale=True, **data)
        # trap: boxes of the host
        results.extend(result)
    return results


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        # No fix: the labels stay on the device.
        scores.append(model(x.to(device)))  # expect: PLM003, by hand
        labels.append(y.to(device))
    scores, labels = torch.cat(scores), torch.cat(labels)
    return (scores.argmax(1) == labels).float().mean()


@torch.no_grad()
def gathered(model, loader, ranks):
    model.eval()
    rows = []
    for x in loader:
        # No fix: NCCL takes no tensors of the host.
        rows.append(model(x.to(device)))  # expect: PLM003, by hand
    rows = torch.cat(rows)
    parts = [torch.empty_like(rows) for _ in range(ranks)]
    dist.all_gather(parts, rows)
    return torch.cat(parts)


@torch.no_grad()
def measured(model, loader, process):
    model.eval()
    told = []
    for batch in loader:
        metrics = model(batch.to(device))
        metrics["count"] = len(batch)
        # No fix: a dict.
        told.append(metrics)  # expect: PLM003, by hand
    process(told)


@torch.no_grad()
def saved(model, loader, path):
    model.eval()
    entries = {"rows": [], "names": []}
    for names, x in loader:
        out = model(x.to(device))
        entries["rows"].append(out)  # expect: PLM003
        entries["names"].extend(names)
    torch.save(torch.cat(entries["rows"]), path)
    return index(entries["names"])


def index(names):
    return {name: at for at, name in enumerate(names)}


@torch.no_grad()
def grown(model, loader):
    model.eval()
    rows, more = torch.empty(0, 10), torch.empty(0, 10, device=device)
    for x in loader:
        rows = torch.cat([rows, model(x.to(device))])  # expect: PLM003
        # No fix: it is on the device from the beginning.
        more = torch.cat([more, model(x.to(device))])  # expect: PLM003, by hand
    print(rows.mean().item(), more.mean().item())
