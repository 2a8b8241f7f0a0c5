import torch
import torch.distributed as dist


def resumed(model, loader, optimizer, to_skip):
    for x in loader:
        if to_skip > 0:
            to_skip -= 1
            continue
        model(x.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        dist.barrier()  # expect: PLM071


def scaled_or_not(model, loader, optimizer, scaler):
    for x in loader:
        loss = model(x.cuda()).mean()
        optimizer.zero_grad()
        if scaler is None:
            loss.backward()
            dist.barrier()  # expect: PLM071
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


def every_update(model, loader, optimizer, accumulate):
    for i, x in enumerate(loader):
        (model(x.cuda()).mean() / accumulate).backward()
        if (i + 1) % accumulate == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            dist.barrier()  # expect: PLM071


def now_and_then(model, loader, optimizer):
    for i, x in enumerate(loader):
        model(x.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 1000 != 0:
            continue
        # trap: once in a thousand
        dist.barrier()
