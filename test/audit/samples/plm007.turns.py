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


def moved(model, criterion, loader, optimizer, device):
    model.train()
    for images, labels in loader:
        model = model.to(device)
        loss = criterion(model(images), labels)
        loss.backward(retain_graph=True)  # expect: PLM007
        optimizer.step()


def carried(model, criterion, loader, optimizer, policy, device):
    for images, labels in loader:
        policy = policy.to(device)
        policy = model(images, policy)
        # trap: a state, whatever it is called
        criterion(policy, labels).backward(retain_graph=True)
        optimizer.step()
