import torch


def refine(model, criterion, loader, optimizer):
    for images, labels in loader:
        output = model(images.cuda())
        for _ in range(500):
            loss = criterion(output, labels.cuda())
            # trap: every turn differentiates the graph of the one forward above
            loss.backward(retain_graph=True)
            optimizer.step()


def train(model, criterion, loader, optimizer):
    for images, labels in loader:
        output = model(images.cuda())
        loss = criterion(output, labels.cuda())
        loss.backward(retain_graph=True)  # expect: PLM007
        optimizer.step()
        optimizer.zero_grad()
