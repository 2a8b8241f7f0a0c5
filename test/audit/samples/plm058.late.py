from contextlib import nullcontext

from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, batches, optimizer, n):
    model = DDP(net.cuda(), gradient_as_bucket_view=True)
    while True:
        for micro in range(n):
            loss = model(next(batches)).mean() / n
            if micro < n - 1:
                with model.no_sync():  # expect: PLM058
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def right(net, batches, optimizer, n):
    model = DDP(net.cuda(), gradient_as_bucket_view=True)
    while True:
        for micro in range(n):
            if micro < n - 1:
                # trap: the forward is inside as well
                with model.no_sync():
                    loss = model(next(batches)).mean() / n
                    loss.backward()
            else:
                loss = model(next(batches)).mean() / n
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def parts(net, batches, optimizer, n):
    model = DDP(net.cuda(), gradient_as_bucket_view=True)
    while True:
        for micro in range(n):
            context = model.no_sync() if micro < n - 1 else nullcontext()
            with context:
                loss = model(next(batches)).mean() / n
            if micro < n - 1:
                # trap: the forward had one of its own
                with model.no_sync():
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def by_name(net, batches, optimizer, n):
    model = DDP(net.cuda(), gradient_as_bucket_view=True)
    while True:
        for micro in range(n):
            loss = model(next(batches)).mean() / n
            context = model.no_sync() if micro < n - 1 else nullcontext()  # expect: PLM058
            with context:
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def at_once(net, batches, optimizer, n):
    model = DDP(net.cuda(), gradient_as_bucket_view=True)
    while True:
        for micro in range(n):
            # trap: around both
            with model.no_sync() if micro < n - 1 else nullcontext():
                loss = model(next(batches)).mean() / n
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()
