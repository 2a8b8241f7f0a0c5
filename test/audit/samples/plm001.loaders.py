import torch


def phases(net, criterion, optimizer, train_loader, test_loader, epochs, device):
    for _ in range(epochs):
        for training, loader in zip([True, False], [train_loader, test_loader]):
            total = torch.tensor(0.0, device=device)
            for x, y in loader:
                loss = criterion(net(x), y)
                if training:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                total += loss  # expect: PLM001
            print(total.item())


def micro(net, criterion, optimizer, loader):
    for batch in loader:
        # trap: begun anew for every batch, of which a few parts are summed
        total = 0.0
        for x, y in batch:
            loss = criterion(net(x), y)
            loss.backward()
            total += loss
        optimizer.step()
        optimizer.zero_grad()
        print(float(total))


def cut(net, criterion, optimizer, loaders):
    for loader in loaders:
        total = 0.0
        for x, y in loader:
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            # trap: without its graph
            total += loss.detach()
        print(float(total))


def pairs(net, criterion, optimizer, near_loader, far_loader):
    for batches in zip(near_loader, far_loader):
        # trap: begun anew for every pair of batches
        total = 0.0
        for x, y in batches:
            loss = criterion(net(x), y)
            loss.backward()
            total += loss
        optimizer.step()
        optimizer.zero_grad()
        print(float(total))
