import torch


def again(logits, labels):
    picked = []
    for i in range(labels.shape[0]):
        picked.append(logits.log_softmax(-1)[i].gather(1, labels[i].unsqueeze(1)))  # expect: PLM080
    return torch.stack(picked)


def each(logits, labels):
    picked = []
    for i in range(labels.shape[0]):
        # trap: of another row in each turn
        picked.append(logits[i].log_softmax(-1).gather(1, labels[i].unsqueeze(1)))
    return torch.stack(picked)


def changed(logits, turns):
    for _ in range(turns):
        # trap: what it is computed from is another one after each turn
        logits = logits - logits.softmax(-1)
    return logits


def first(logits):
    for row in range(logits.size(0)):
        # trap: left at once
        found = logits.softmax(-1)[row]
        break
    return found
