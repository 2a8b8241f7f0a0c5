import torch
import torch.distributed as dist
from comm import utils


def train(model, loader, optimizer):
    model.cuda()
    for i, x in enumerate(loader):
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        utils.barrier()  # likely: PLM071
        if i == 0:
            # trap: in the first turn
            utils.barrier()
        # trap: of this device, not of ranks
        torch.cuda.synchronize()


def train_summed(model, loader, optimizer):
    model.cuda()
    for x in loader:
        model(x.cuda()).mean().backward()
        for p in model.parameters():
            # trap: gradients have to be reduced
            dist.all_reduce(p.grad)
        optimizer.step()


# trap: once an epoch, as whoever calls it likes
def reduce_and_average_losses(losses):
    dist.barrier()
    for key in losses:
        dist.all_reduce(losses[key])
