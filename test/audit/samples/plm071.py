import torch
import torch.distributed as dist


def train(model, loader, optimizer):
    # trap: once, before
    dist.barrier()
    for step, x in enumerate(loader):
        model(x).sum().backward()
        dist.barrier()  # expect: PLM071
        optimizer.step()
        if step % 1000 == 0:
            # trap: around a save
            dist.barrier()
        # trap: one reduction
        total = torch.zeros(1)
        dist.all_reduce(total)
    # trap: once, after
    dist.barrier()
