import torch
import torch.distributed as dist

SAVE_AT = 1000


def save(model, step):
    if not step or step != SAVE_AT:
        return False
    torch.save(model.state_dict(), "model.pt")
    # trap: at one step
    dist.barrier()
    return True


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()
        dist.barrier()  # expect: PLM071
        save(model, step)
