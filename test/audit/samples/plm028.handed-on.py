import torch
from torch import nn


def loss_func(logits, targets, mask, entity=False, odd=False):
    criterion = nn.CrossEntropyLoss()
    if entity:
        active = mask.view(-1) == 1
        return criterion(logits[active], targets.view(-1)[active])  # likely: PLM028
    if odd:
        wrong = mask.view(-1) == 0
        # trap: nobody asks for it
        return criterion(logits[wrong], targets.view(-1)[wrong])
    return criterion(logits, targets.view(-1))


def train(net, loader, optimizer):
    for x, y, mask in loader:
        out = net(x.cuda())
        loss = loss_func(out, y, mask, entity=True) + loss_func(out, y, mask)
        loss.backward()
        optimizer.step()
