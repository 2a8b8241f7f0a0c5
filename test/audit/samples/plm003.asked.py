import torch


@torch.no_grad()
def asked(model, graph):
    model.cuda().eval()
    kept = []
    for nodes, _ in graph.iterate(mode="val", shuffle=False):
        kept.append(model(nodes))  # expect: PLM003
    return torch.cat(kept)


@torch.no_grad()
def heads(model, x):
    model.cuda().eval()
    kept = []
    for scale in x.scales(mode="bilinear"):
        # trap: sizes of one image, and how they are made
        kept.append(model(scale))
    return torch.cat(kept)


@torch.no_grad()
def sampled(model, monitor, x):
    model.cuda().eval()
    kept = []
    for _ in monitor.iterate("Sample", 20):
        # trap: a bar around a count
        kept.append(model(x))
    return torch.cat(kept)
