import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, rank, search, options):
    model = DDP(model, device_ids=[rank], find_unused_parameters=True, gradient_as_bucket_view=True)  # expect: PLM058
    a = DDP(model, device_ids=[rank])  # expect: PLM058
    # trap: decided elsewhere
    b = DDP(model, find_unused_parameters=search, gradient_as_bucket_view=True)
    # trap: may be in the options
    c = DDP(model, **options)
    # trap: not searched
    d = DDP(model, find_unused_parameters=False, gradient_as_bucket_view=True)
    return a, b, c, d


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        model(x).sum().backward()  # expect: PLM058
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def train_around(args, model, loader, optimizer):
    bare = model.module if isinstance(model, DDP) else model
    for step, x in enumerate(loader):
        # trap: the wrapper sees no forward, and reduces nothing
        bare(x).sum().backward()
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def adversarial(model, loader, optimizer):
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        # trap: used up in the same turn; the rarer step is another loss's
        model(x).sum().backward()
        optimizer.step()
        if step % 16 == 0:
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()


def micro(model, loader, optimizer, grad_accum_steps, epochs):
    for epoch in range(epochs):
        for _ in range(grad_accum_steps):
            model(next(loader)).sum().backward()  # expect: PLM058
        optimizer.step()
        optimizer.zero_grad()


def rounds(model, loader, optimizer, micro_batches, epochs):
    for epoch in range(epochs):
        for _ in range(micro_batches):
            # trap: each of them is used up at once
            model(next(loader)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def branches(model, loader, optimizer):
    for step, x in enumerate(loader):
        loss = model(x).sum()
        if (step + 1) % 4 == 0:
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        else:
            loss.backward()  # expect: PLM058


def either(model, loader, optimizer, scaler, half):
    for step, x in enumerate(loader):
        loss = model(x).sum()
        optimizer.zero_grad()
        if half:
            # trap: one of two ways to do the same, each with a step
            scaler.scale(loss).backward()
            scaler.step(optimizer)
        else:
            loss.backward()
            optimizer.step()


def turns(model, critic, loader, optimizer, opponent):
    for step, x in enumerate(loader):
        if step % 5 == 0:
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        else:
            # trap: another network's turn, with a step of its own
            critic(x).sum().backward()
            opponent.step()
            opponent.zero_grad()
