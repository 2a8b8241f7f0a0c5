import torch


@torch.no_grad()
def score(network, sets, layers):
    network.cuda().eval()
    for dataset in sets:
        kept, found = [], []
        with iter(dataset) as rows:
            for row in rows:
                scores = network(row.cuda())
                kept.append(scores)  # expect: PLM003
                found.append(scores.cpu())
        yield torch.cat(kept), torch.cat(found)
    several = []
    heads = iter(layers)
    for head in heads:
        # trap: a handful of heads
        several.append(network(head))
    yield several
