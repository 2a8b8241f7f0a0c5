import torch


def train(model, criterion, loader, optimizer):
    model.cuda()
    average = 0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        average = (
            0.99 * average + 0.01 * loss.item()  # expect: PLM025
            if average != 0
            # trap: on the first step
            else loss.item()
        )
    return average
