import torch  # noqa: F401


def wrong(model, loader, optimizer, n):
    for step, x in enumerate(loader):
        model.require_backward_grad_sync = step % n == 0  # expect: PLM084
        model(x).sum().backward()
        if (step + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def right(model, loader, optimizer, n):
    for step, x in enumerate(loader):
        # trap: the same micro-step
        model.require_backward_grad_sync = (step + 1) % n == 0
        model(x).sum().backward()
        if (step + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def last(model, loader, optimizer, n):
    for batch in loader:
        for micro in range(n):
            # trap: the last of each group
            model.require_backward_grad_sync = micro == n - 1
            model(batch[micro]).sum().backward()
        optimizer.step()


def always(model, loader, optimizer):
    for x in loader:
        # trap: in every step
        model.require_backward_grad_sync = True
        model(x).sum().backward()
        optimizer.step()


def counted_from_the_other_end(model, loader, optimizer, n):
    for step, x in enumerate(loader):
        # trap: the same turn, written differently
        model.require_backward_grad_sync = step % n == n - 1
        model(x).sum().backward()
        if (step + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def first_of_each(model, loader, optimizer, n):
    for batch in loader:
        for micro in range(n):
            model.require_backward_grad_sync = micro == 0  # expect: PLM084
            model(batch[micro]).sum().backward()
        optimizer.step()


def by_updates(net, batches, optimizer, accumulate):
    for step in range(1000):
        for micro in range(accumulate):
            net.require_backward_grad_sync = step % accumulate == 0  # expect: PLM084
            net(next(batches)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def by_turns(net, batches, optimizer, accumulate):
    step = 0
    for epoch in range(1000):
        for micro in range(accumulate):
            step += 1
            # trap: counted on in this loop
            net.require_backward_grad_sync = step % accumulate == 0
            net(next(batches)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
