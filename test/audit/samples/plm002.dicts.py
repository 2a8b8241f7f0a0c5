import torch


def train(model, criterion, loader, optimizer):
    seen, whole, copies, shown, given = [], [], [], [], []
    for x, y in loader:
        terms = criterion(model(x.cuda()), y.cuda())
        loss = sum(terms[k] * criterion.weights[k] for k in terms if k in criterion.weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append({k: v for k, v in terms.items()})  # expect: PLM002
        whole.append(terms)  # expect: PLM002
        copies.append(dict(terms))  # expect: PLM002
        # trap: numbers
        shown.append({k: v.item() for k, v in terms.items()})
        # trap: cut off
        shown.append({k: v.detach() for k, v in terms.items()})
        # trap: the batch, which has no graph
        given.append({k: v for k, v in x.items()})
    return seen, whole, copies, shown, given


def evaluate(model, criterion, loader):
    seen = []
    with torch.no_grad():
        for x, y in loader:
            terms = criterion(model(x.cuda()), y.cuda())
            # trap: nothing is recorded
            seen.append({k: v for k, v in terms.items()})
    return seen
