import torch.nn.functional as F


def frames(net, loader, optimizer):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        net.reset_memory()
        for at in range(x.size(1)):
            loss = F.mse_loss(net(x[:, at]), y[:, at])
            # trap: the network's own memory goes through all frames before
            loss.backward(retain_graph=True)
        optimizer.step()


def read_off(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        state = None
        for at in range(0, x.size(1), window):
            out = net(x[:, at : at + window], state)
            state = net.core.last_hidden
            loss = F.mse_loss(out, y[:, at : at + window])
            # trap: the state brings the graphs of the windows before
            loss.backward(retain_graph=True)
        optimizer.step()


def plain(net, loader, optimizer):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward(retain_graph=True)  # expect: PLM007
        optimizer.step()
