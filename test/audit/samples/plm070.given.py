import torch
import torch.nn.functional as F

ROWS = list(range(140))
ON_DEVICE = torch.arange(140, device="cuda")


def by_list(scores, rows):
    return scores[rows].mean()  # expect: PLM070


def by_tensor(scores, rows):
    # trap: a tensor that is there already
    return scores[rows].mean()


def by_either(scores, rows):
    # trap: of one of its calls nothing is known
    return scores[rows].mean()


def train(model, loader, optimizer, picked):
    for x, y in loader:
        scores = model(x.cuda())
        loss = F.cross_entropy(scores, y.cuda())
        loss = loss + by_list(scores, ROWS) + by_tensor(scores, ON_DEVICE)
        loss = loss + by_either(scores, ROWS) + by_either(scores, picked)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
