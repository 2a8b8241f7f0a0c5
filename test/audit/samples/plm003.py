import torch

device = torch.device("cuda")


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    logits, correct, losses, heads = [], 0, [], []
    for x, y in loader:
        out = model(x.to(device))
        logits.append(out.logits)  # expect: PLM003
        # trap: already on the host
        heads.append(out.logits.cpu())
        # trap: a number a batch
        losses.append(out.loss)
        # trap: reduced
        correct += (out.logits.argmax(-1) == y.to(device)).sum()
        parts = []
        for scale in (1, 2):
            # trap: a list that dies with the batch
            parts.append(model(x.to(device) * scale))
    return torch.cat(logits).cpu(), correct, losses


@torch.no_grad()
def score(model, loader, device):
    model.to(device)
    scores = []
    for batch in loader:
        # trap: one number an example
        scores.append(model(batch.to(device))["end_scores"])
    return scores


@torch.no_grad()
def neighbours(model, memory_loader, test_loader, device):
    model.to(device).eval()
    bank, found = [], []
    for x in memory_loader:
        # trap: every batch is held against all of them, on the device
        bank.append(model(x.to(device)))
    bank = torch.cat(bank).t().contiguous()
    for x in test_loader:
        found.append(torch.mm(model(x.to(device)), bank).argmax(-1).cpu())
    return found
