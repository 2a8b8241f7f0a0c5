def train(net, loader, optimizer, accumulate, epoch):
    last = -1
    for i, x in enumerate(loader):
        seen = i + len(loader) * epoch
        net.require_backward_grad_sync = i % accumulate == 0  # expect: PLM084
        net(x).mean().backward()
        if seen - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = seen


def counted(net, loader, optimizer, accumulate):
    done = 0
    for i, x in enumerate(loader):
        net.require_backward_grad_sync = i % accumulate == 0  # expect: PLM084
        net(x).mean().backward()
        done += 1
        if done == accumulate:
            optimizer.step()
            optimizer.zero_grad()
            done = 0


def last_one(net, loader, optimizer, accumulate):
    last = -1
    done = 0
    for i, x in enumerate(loader):
        # trap: the turn before the step
        net.require_backward_grad_sync = (i + 1) % accumulate == 0
        net(x).mean().backward()
        done += 1
        if i - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = i


def from_zero(net, loader, optimizer, accumulate):
    last = 0
    for i, x in enumerate(loader):
        # trap: the first of them comes after one turn more
        net.require_backward_grad_sync = i % accumulate == 0
        net(x).mean().backward()
        if i - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = i


def one_test(net, loader, optimizer, accumulate):
    last = -1
    for i, x in enumerate(loader):
        full = i - last >= accumulate
        # trap: one test for both
        net.require_backward_grad_sync = full
        net(x).mean().backward()
        if full:
            optimizer.step()
            optimizer.zero_grad()
            last = i


def from_one(net, loader, optimizer, accumulate):
    done = 0
    for i, x in enumerate(loader, 1):
        # trap: counted from one
        net.require_backward_grad_sync = i % accumulate == 0
        net(x).mean().backward()
        done += 1
        if done == accumulate:
            optimizer.step()
            optimizer.zero_grad()
            done = 0


def told(net, loader, optimizer, accumulate, last):
    for i, x in enumerate(loader):
        # trap: who knows where it begins
        net.require_backward_grad_sync = i % accumulate == 0
        net(x).mean().backward()
        if i - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = i


def renamed(cfg, model, loader, optimizer, start):
    for turn, (images, targets) in enumerate(loader, start):
        model.require_backward_grad_sync = turn % cfg.SOLVER.STEPS == 0  # expect: PLM084
        turn = turn + 1
        loss = model(images.cuda(), targets.cuda())
        (loss / cfg.SOLVER.STEPS).backward()
        if turn % cfg.SOLVER.STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()


def renamed_before(cfg, model, loader, optimizer, start):
    for turn, (images, targets) in enumerate(loader, start):
        turn = turn + 1
        # trap: counted already
        model.require_backward_grad_sync = turn % cfg.SOLVER.STEPS == 0
        loss = model(images.cuda(), targets.cuda())
        (loss / cfg.SOLVER.STEPS).backward()
        if turn % cfg.SOLVER.STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
