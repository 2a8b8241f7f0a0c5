"""Taken in a turn from an iterator that it is handed."""

from torch.utils.data import DataLoader


def turn(net, opt, batches):
    x, y = next(batches)
    x = x.to("cuda")  # expect: PLM037
    loss = net(x, y.to("cuda", non_blocking=True))
    loss.backward()
    opt.step()
    opt.zero_grad()


def plain_turn(net, opt, batches):
    x, y = next(batches)
    # trap: not every loader that comes in here pins
    x = x.to("cuda")
    loss = net(x, y.to("cuda", non_blocking=True))
    loss.backward()
    opt.step()
    opt.zero_grad()


def look(net, batches):
    x, _ = next(batches)
    # trap: once, before the training
    print(net(x.to("cuda"), None))


def train(net, opt, data, turns):
    pinned = iter(DataLoader(data, batch_size=8, num_workers=4, pin_memory=True))
    plain = iter(DataLoader(data, batch_size=8, num_workers=4))
    look(net, pinned)
    for _ in range(turns):
        turn(net, opt, pinned)
    for _ in range(turns):
        plain_turn(net, opt, plain)
        plain_turn(net, opt, pinned)
