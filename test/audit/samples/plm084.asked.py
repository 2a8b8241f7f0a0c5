from torch.nn.parallel import DistributedDataParallel


def begins(at, every):
    return at % every == 0


def ends(at, every):
    """The last of each group."""
    return (at + 1) % every == 0


def wrong(net: DistributedDataParallel, loader, optimizer, accumulate):
    for step, x in enumerate(loader):
        net.require_backward_grad_sync = begins(step, accumulate)  # expect: PLM084
        (net(x).mean() / accumulate).backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


def right(net: DistributedDataParallel, loader, optimizer, accumulate):
    for step, x in enumerate(loader):
        # trap: the same turn, in other words
        net.require_backward_grad_sync = ends(step, accumulate)
        (net(x).mean() / accumulate).backward()
        if (step+1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


def shifted(net: DistributedDataParallel, loader, optimizer, accumulate):
    for step, x in enumerate(loader):
        # trap: asked of the next one
        net.require_backward_grad_sync = begins(step + 1, accumulate)
        (net(x).mean() / accumulate).backward()
        if ends(step, every=accumulate):
            optimizer.step()
            optimizer.zero_grad()
