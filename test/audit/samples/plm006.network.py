import torch.nn.functional as F


def own(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        net.hidden = net.init_hidden(x.size(0))
        optimizer.zero_grad()
        for at in range(0, x.size(1), window):
            loss = F.mse_loss(net(x[:, at : at + window]), y[:, at : at + window])  # expect: PLM006
            loss.backward(retain_graph=True)
        optimizer.step()


def read_off(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        state = None
        for at in range(0, x.size(1), window):
            out = net(x[:, at : at + window], state)  # expect: PLM006
            state = net.core.last_hidden
            F.mse_loss(out, y[:, at : at + window]).backward(retain_graph=True)
        optimizer.step()


def cut(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        net.reset_state()
        optimizer.zero_grad()
        for at in range(0, x.size(1), window):
            # trap: the network is told to cut it off
            net.detach_state()
            loss = F.mse_loss(net(x[:, at : at + window]), y[:, at : at + window])
            loss.backward(retain_graph=True)
        optimizer.step()


def each(net, loader, optimizer, window):
    net.train()
    net.reset_state()
    for x, y in loader:
        optimizer.zero_grad()
        for at in range(0, x.size(1), window):
            # trap: begun anew in every turn
            net.hidden = net.init_hidden(x.size(0))
            loss = F.mse_loss(net(x[:, at : at + window]), y[:, at : at + window])
            loss.backward(retain_graph=True)
        optimizer.step()


def detached(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        state = None
        for at in range(0, x.size(1), window):
            out = net(x[:, at : at + window], state)
            # trap: read off without its graph
            state = net.core.last_hidden.detach()
            F.mse_loss(out, y[:, at : at + window]).backward(retain_graph=True)
        optimizer.step()


def saved(net, loader, optimizer, best):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        weights = None
        for part in x.chunk(4):
            out = net(part, weights)
            # trap: weights, and no state
            weights = net.state_dict()
            F.mse_loss(out, y).backward(retain_graph=True)
        optimizer.step()


def part(net, loader, optimizer, window):
    net.train()
    for x, y in loader:
        net.reset()
        optimizer.zero_grad()
        for at in range(0, x.size(1), window):
            # trap: a part of it is told to cut it off
            net.core.detach_hidden()
            loss = F.mse_loss(net(x[:, at : at + window]), y[:, at : at + window])
            loss.backward(retain_graph=True)
        optimizer.step()


def by_method(net, criterion, batches, optimizer, chunks):
    for epoch in range(10):
        net.memory.__init_memory__()
        for first in range(0, len(batches), chunks):
            loss = 0
            optimizer.zero_grad()
            for at in range(chunks):
                pairs, truth = batches[first + at]
                near, far = net.edge_scores(pairs)  # expect: PLM006
                loss += criterion(near, truth) + criterion(far, 1 - truth)
            loss /= chunks
            loss.backward(retain_graph=True)
            optimizer.step()


def by_method_cut(net, criterion, batches, optimizer):
    for epoch in range(10):
        net.memory.__init_memory__()
        for pairs, truth in batches:
            optimizer.zero_grad()
            # trap: the memory is cut off after each step
            near, far = net.edge_scores(pairs)
            loss = criterion(near, truth) + criterion(far, 1 - truth)
            loss.backward()
            optimizer.step()
            net.memory.detach_memory()
