"""Every few turns, in what the turns call."""

from torch.utils.data import DataLoader


def turn(count, x, y, net, opt, old_loader):
    if count % 4 == 3:
        x, y = next(iter(old_loader))  # expect: PLM076
    loss = net(x, y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    return x, y


def rare_turn(count, x, y, net, opt, old_loader):
    if count % 500 == 0:
        # trap: once in a long while
        x, y = next(iter(old_loader))
    loss = net(x, y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    if count % 8 == 0:
        # trap: a look, of which nothing is learnt
        shown, _ = next(iter(old_loader))
        print(shown.shape)


def train(net, opt, data, kept):
    new_loader = DataLoader(data, batch_size=8, num_workers=4)
    old_loader = DataLoader(kept, batch_size=8, num_workers=4)
    for count, (x, y) in enumerate(new_loader):
        x, y = turn(count, x, y, net, opt, old_loader)
    for count, (x, y) in enumerate(new_loader):
        rare_turn(count, x, y, net, opt, old_loader)
