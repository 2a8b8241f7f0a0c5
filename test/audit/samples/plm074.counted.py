import torch


def accuracy(output, labels):
    best = output.max(1)[1].type_as(labels)
    # trap: a comparison, counted
    return best.eq(labels).double().sum() / len(labels)


def train(model, criterion, loader, optimizer):
    model.cuda()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        output = model(x)
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
        right = accuracy(output, y)
        # trap: a comparison, counted
        right += (output.argmax(1) == y).double().mean()
