def inparts(net, loader, optimizer):
    for x, _ in loader:
        for loss, last in net(x.cuda()):
            # trap: the next part may go on from the graph of this one
            loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def whole(net, loader, optimizer):
    for x, _ in loader:
        loss = net(x.cuda()).mean()
        loss.backward(retain_graph=True)  # expect: PLM007
        optimizer.step()
        optimizer.zero_grad()
