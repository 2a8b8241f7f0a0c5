import time

import torch
import torch.distributed as dist


def all_here():
    """Waits for the others, where there are any."""
    if not dist.is_available() or not dist.is_initialized():
        return
    size = dist.get_world_size()
    if size == 1:
        return
    dist.barrier()


def save(model, step):
    # trap: it has something else to do, and is throttled by whoever calls it
    torch.save(model.state_dict(), f"{step}.pt")
    dist.barrier()


def timed_wait(times):
    # trap: what it waits for it measures
    begun = time.time()
    dist.barrier()
    times.append(time.time() - begun)


def train(model, loader, optimizer, rank):
    # trap: once, before
    all_here()
    for step, x in enumerate(loader):
        model(x.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        all_here()  # expect: PLM071
        if rank != -1:
            dist.barrier()  # expect: PLM071
        if step % 1000 == 0:
            save(model, step)
            # trap: around a save
            all_here()
