import contextlib


def learn(net, batch, size, accumulate, optimizer, loss_fn):
    for start in range(0, len(batch), size):
        last = (start + 1) % accumulate == 0
        context = contextlib.nullcontext() if last else net.no_sync()  # expect: PLM084
        with context:
            part = batch[start : start + size]
            loss_fn(net(part), part).backward()
    optimizer.step()


def learn_by_ends(net, batch, size, optimizer, loss_fn):
    for start in range(0, len(batch), size):
        # trap: the end of the last part
        context = contextlib.nullcontext() if start + size >= len(batch) else net.no_sync()
        with context:
            part = batch[start : start + size]
            loss_fn(net(part), part).backward()
    optimizer.step()


def learn_by_parts(net, batch, size, accumulate, optimizer, loss_fn):
    for start in range(0, len(batch), size):
        # trap: it knows of the size
        last = start % (size * accumulate) == size * (accumulate - 1)
        context = contextlib.nullcontext() if last else net.no_sync()
        with context:
            part = batch[start : start + size]
            loss_fn(net(part), part).backward()
        if last:
            optimizer.step()
