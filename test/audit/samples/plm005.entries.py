import torch


def memories(net, loader, optimizer, n):
    if n > 1:
        mems = [tuple() for _ in range(n)]
    else:
        mems = tuple()
    for x, y in loader:
        if n > 1:
            xs, ys = x.chunk(n, 1), y.chunk(n, 1)
            whole = 0.0
            for i in range(n):
                ret = net(xs[i], ys[i], *mems[i])
                loss, mems[i] = ret[0], ret[1:]
                whole = whole + loss.mean() / n  # expect: PLM005
            whole.backward()
        else:
            ret = net(x, y, *mems)
            loss, mems = ret[0], ret[1:]
            loss.mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def states(net, criterion, loader, optimizer, n):
    hidden = [None] * n
    for x, y in loader:
        losses = []
        for at, (part, wanted) in enumerate(zip(x.chunk(n), y.chunk(n))):
            out, state = net(part, hidden[at])
            hidden[at] = state.detach()
            losses.append(criterion(out, wanted))  # expect: PLM005
        torch.stack(losses).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def by_name(net, criterion, sources, optimizer):
    carried = {}
    for _ in range(100):
        whole = 0.0
        for name, batch in sources.items():
            out, carried[name] = net(batch, carried[name])
            whole += criterion(out, batch)  # expect: PLM005
        whole.backward()
        optimizer.step()
        optimizer.zero_grad()


def carried_on(net, criterion, loader, optimizer, n):
    for x, y in loader:
        hidden = [None] * (n + 1)
        whole = 0.0
        for i in range(n):
            out, hidden[i + 1] = net(x[i], hidden[i])
            # trap: the entry that the next turn reads
            whole = whole + criterion(out, y[i])
        whole.backward()
        optimizer.step()
        optimizer.zero_grad()


def all_of_them(net, criterion, loader, optimizer, n):
    for x, y in loader:
        kept = [None] * n
        whole = 0.0
        for i in range(n):
            kept[i] = net(x[i], kept)
            # trap: every turn reads what the others left
            whole = whole + criterion(kept[i], y[i])
        whole.backward()
        optimizer.step()
        optimizer.zero_grad()


def of_one_run(encoder, net, criterion, loader, optimizer, n):
    for x, y in loader:
        features = encoder(x).chunk(n)
        whole = 0.0
        for i in range(n):
            # trap: what the encoder gave has one graph for all
            whole = whole + criterion(net(features[i]), y[i])
        whole.backward()
        optimizer.step()
        optimizer.zero_grad()
