import torch.nn.functional as F


def scaled(net, loader, optimizer, settings):
    net.train()
    for x, y in loader:
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()  # expect: PLM022
        (loss * settings.loss.scale).backward()
        optimizer.step()


def summed(net, loader, optimizer, weight):
    net.train()
    for x, y in loader:
        out, code = net(x)
        fit = F.mse_loss(out, y)
        size = code.abs().mean()
        optimizer.zero_grad()  # expect: PLM022
        (fit + weight * size).backward()
        optimizer.step()


def negative(net, loader, optimizer):
    net.train()
    for x, y in loader:
        bound = net(x, y).mean()
        optimizer.zero_grad()  # expect: PLM022
        (-bound).backward()
        optimizer.step()


def before(net, loader, optimizer, scale):
    net.train()
    for x, y in loader:
        # trap: before the forward
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        (loss * scale).backward()
        optimizer.step()


def after(net, loader, optimizer, scale):
    net.train()
    for x, y in loader:
        loss = F.mse_loss(net(x), y)
        (loss * scale).backward()
        optimizer.step()
        # trap: right after the step
        optimizer.zero_grad()


def half(net, loader, optimizer, scale):
    net.train()
    for x, y in loader:
        aside = net.prepare(x).mean()
        # trap: the forward of the other term is yet to come
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        (loss + scale * aside).backward()
        optimizer.step()
