import torch


def embeddings(model, loader):
    found = {}
    model.cuda().eval()
    with torch.no_grad():
        for name, x in loader:
            found[name] = model(x.cuda())
    return found


def scores(pairs, enrolled, tested):
    similarity = torch.nn.CosineSimilarity(dim=-1)
    found = []
    for left, right in pairs:
        score = similarity(enrolled[left], tested[right])[0]
        # trap: a similarity has no parameters, and these embeddings no graph
        found.append(score)
    return max(found).item()


pairs, enrol, test = load()
print(scores(pairs, enrol, test))


def halves(model, loader, optimizer):
    queue, counts = [], []
    for x, n in loader:
        f1, f2 = torch.split(model(x.cuda()), [8, 8], dim=0)
        queue.append(f1)  # expect: PLM002
        if len(queue) > 256:
            queue.pop(0)
        bank = torch.cat(queue).detach()
        loss, f1 = model.judge(f1 @ bank.T, f2)
        # trap: by its name what was counted
        counts.append(f1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
