import torch.nn.functional as F


def kept_whole(net, loader, optimizer, device):
    net.to(device)
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(net(images.to(device)), labels.to(device))
        total += loss  # expect: PLM001
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    return total / len(loader)


def detached(net, loader, optimizer, device):
    net.to(device)
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(net(images.to(device)), labels.to(device))
        total += loss.detach()  # trap: no graph comes with it
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    return total / len(loader)
