def above_the_count(model, loader, optimizer, args):
    train_step = 0
    for x in loader:
        model.require_backward_grad_sync = train_step % args.grad_acc == 0  # likely: PLM084
        loss = model(x).mean()
        train_step += 1
        last = True if train_step % args.grad_acc == 0 else False
        update(loss / args.grad_acc, optimizer, last=last)


def below_the_count(model, loader, optimizer, args):
    train_step = 0
    for x in loader:
        train_step += 1
        # trap: the same number in both
        model.require_backward_grad_sync = train_step % args.grad_acc == 0
        loss = model(x).mean()
        last = True if train_step % args.grad_acc == 0 else False
        update(loss / args.grad_acc, optimizer, last=last)


def update(loss, optimizer, last):
    loss.backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()


def first_window_only(net, loader, optimizer, hps):
    for i, x in enumerate(loader):
        full = (i + 1) % hps.accumulate == 0
        net.require_backward_grad_sync = i == hps.accumulate - 1  # likely: PLM084
        net(x).mean().backward()
        if full:
            optimizer.step()
            optimizer.zero_grad()


def set_in_both_branches(net, loader, optimizer, n):
    for i, x in enumerate(loader):
        # trap: it is off in all turns but the one that steps
        if (i + 1) % n == 0:
            net.require_backward_grad_sync = True
        else:
            net.require_backward_grad_sync = False
        net(x).mean().backward()
        if i % n == n - 1:
            optimizer.step()
            optimizer.zero_grad()


def set_the_wrong_way_round(net, loader, optimizer, n):
    for i, x in enumerate(loader):
        if (i + 1) % n == 0:
            net.require_backward_grad_sync = False  # likely: PLM084
        else:
            net.require_backward_grad_sync = True  # likely: PLM084
        net(x).mean().backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def counted_down(net, loader, optimizer, n):
    seen = 0
    for x in loader:
        # trap: what is full is emptied
        net.require_backward_grad_sync = seen == n - 1
        net(x).mean().backward()
        seen += 1
        if seen == n:
            optimizer.step()
            optimizer.zero_grad()
            seen = 0
