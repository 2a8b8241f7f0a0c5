import torch


@torch.no_grad()
def embed(model, loader, keys):
    found = {"a": torch.zeros(0, 8).cuda()}
    while_at = torch.zeros(1, 8).cuda()
    for x in loader:
        found["a"] = torch.cat([found["a"], model(x.cuda())])  # expect: PLM045
        # only its last row is read
        while_at = torch.cat([while_at, model(while_at[-1:])])  # expect: PLM045
    for key in keys:
        # trap: each entry once
        found[key] = torch.cat([found[key], torch.zeros(1, 8).cuda()])
    return found, while_at


def generate(model, ids, length):
    for _ in range(length):
        # trap: each turn reads the whole
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
    return ids
