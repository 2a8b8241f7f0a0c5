import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def zero_grad(params):
    for param in params:
        if param.grad is not None:
            # trap: not allowed of what is a view of the buckets
            param.grad.detach_()
            param.grad.zero_()


def train(model, loader, optimizer, rank):
    model = DDP(model.to(rank), device_ids=[rank])  # expect: PLM058, by hand
    for x, y in loader:
        zero_grad(model.parameters())
        torch.nn.functional.mse_loss(model(x.to(rank)), y.to(rank)).backward()
        optimizer.step()
