def together(net, loader, optimizer):
    for x, _ in loader:
        whole = 0.0
        for loss, last in net(x.cuda()):
            whole = whole + loss  # expect: PLM005
        whole.backward()
        optimizer.step()
        optimizer.zero_grad()


def each(net, loader, optimizer):
    for x, _ in loader:
        whole = 0.0
        for loss, last in net(x.cuda()):
            loss.backward()
            # trap: differentiated already
            whole = whole + loss.detach()
        optimizer.step()
        optimizer.zero_grad()
        print(whole.item())
