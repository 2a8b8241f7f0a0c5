import torch.nn.functional as F


def cleared(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        for piece, wanted in zip(x.split(window, dim=1), y.split(window, dim=1)):
            loss = F.mse_loss(net(piece), wanted)  # expect: PLM006
            loss.backward(retain_graph=True)
        optimizer.step()
        net.clear_memory()


def emptied(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        for piece, wanted in zip(x.split(window, dim=1), y.split(window, dim=1)):
            loss = F.mse_loss(net(piece), wanted)  # expect: PLM006
            loss.backward(retain_graph=True)
        optimizer.step()
        net.memory = None


def cut(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        for piece, wanted in zip(x.split(window, dim=1), y.split(window, dim=1)):
            loss = F.mse_loss(net(piece), wanted)
            loss.backward(retain_graph=True)
            # trap: cut off after each
            net.detach_memory()
        optimizer.step()
        net.clear_memory()


def afterwards(net, pieces, optimizer):
    net.train()
    for piece, wanted in pieces:
        optimizer.zero_grad()
        # trap: nothing says that it has a state while this runs
        loss = F.mse_loss(net(piece), wanted)
        loss.backward(retain_graph=True)
        optimizer.step()
    net.reset()
