import torch


def repackage_hidden(hidden):
    return tuple(h.clone() for h in hidden)  # expect: PLM006


def repackage_states(states):
    # trap: cut off one by one
    return [(h.detach(), c.detach()) for h, c in states]


def detach_memory(memory):
    # trap: a loop that cuts each off in place
    for one in memory:
        one.detach_()
    return memory


def reuse(weights):
    # trap: no state
    return weights * 2


def entry(net, loader, criterion, optimizer):
    run = {"hidden": None}
    for x, y in loader:
        out, run["hidden"] = net(x.cuda(), run["hidden"])  # expect: PLM006
        loss = criterion(out, y.cuda())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()


def cut(net, loader, criterion, optimizer):
    run = {"hidden": None}
    for x, y in loader:
        # trap: cut off below
        out, run["hidden"] = net(x.cuda(), run["hidden"])
        loss = criterion(out, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run["hidden"] = run["hidden"].detach()


def begun(net, loader, criterion, optimizer):
    run = {}
    for x, y in loader:
        # trap: begun anew for each batch
        run["hidden"] = torch.zeros(1, len(x), 8, device="cuda")
        out, run["hidden"] = net(x.cuda(), run["hidden"])
        loss = criterion(out, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def inparts(net, loader, optimizer):
    for x, _ in loader:
        for loss, last in net(x.cuda()):  # expect: PLM006
            loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def apart(net, loader, optimizer):
    for x, _ in loader:
        # trap: the graph of each part is gone with its backward
        for loss, last in net(x.cuda()):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def layers(cells, head, loader, criterion, optimizer):
    states = [None] * len(cells)
    for x, y in loader:
        out = x.cuda()
        for i in range(len(cells)):
            out, states[i] = cells[i](out, states[i])  # expect: PLM006
        loss = criterion(head(out), y.cuda())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()


def fresh(cells, head, loader, criterion, optimizer):
    for x, y in loader:
        # trap: all of them are begun anew
        states = [None] * len(cells)
        out = x.cuda()
        for i in range(len(cells)):
            out, states[i] = cells[i](out, states[i])
        loss = criterion(head(out), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
