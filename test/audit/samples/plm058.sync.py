# A context manager of another file says on which round the gradients are reduced.
import torch
from torch.nn.parallel import DistributedDataParallel

from torch_utils import misc


def train(net, loader, optimizer, loss_fn, rounds, device):
    ddp = DistributedDataParallel(net, device_ids=[device], gradient_as_bucket_view=True)
    batches = iter(loader)
    while True:
        optimizer.zero_grad(set_to_none=True)
        for turn in range(rounds):
            with misc.ddp_sync(ddp, turn == rounds - 1):
                images, labels = next(batches)
                loss = loss_fn(net=ddp, images=images.to(device), labels=labels.to(device))
                # trap: `ddp_sync` enters `no_sync()` on all but the last
                loss.sum().mul(1 / rounds).backward()
        optimizer.step()
