import torch

device = torch.device("cuda")


def try_out(model, loader, optimizer):
    for epoch in range(10):
        for x in loader:
            loss = model(x.to(device)).mean()
            loss.backward()
            optimizer.step()
            # trap: one step, as somebody left it who tried something
            print(loss.item())
            break
        break


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())  # expect: PLM025
        if len(x) < 4:
            break


def on_host(model, loader, optimizer, criterion):
    total = 0.0
    for x, y in loader:
        output = model(x.to(device)).cpu()  # expect: PLM025
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
        # trap: the loss is on the host, where the output was brought
        total += loss.item()
    return total
