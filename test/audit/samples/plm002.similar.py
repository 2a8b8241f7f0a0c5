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
