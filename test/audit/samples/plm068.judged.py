import torch
import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.no_grad()
def judge(model, loader):
    right = 0
    for x, y in loader:
        guesses = model(x.cuda()).argmax(dim=1)
        right += sum(guesses == y.cuda())  # expect: PLM068
        # trap: on the host
        right += sum((guesses == y.cuda()).tolist())
        # trap: a list of two
        right += sum([guesses.sum(), y.sum()])
    # trap: once
    return right / sum(guesses)
