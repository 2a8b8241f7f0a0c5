import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Loop:
    def __init__(self, net):
        dist.init_process_group("nccl")
        self.rank = int(os.environ["LOCAL_RANK"])
        # trap: it may be moved again, to the rank's own
        net = net.to("cuda")
        self.net = DistributedDataParallel(net.to(self.rank))

    def run(self, loader):
        # trap: of one that is there already
        return [self.net(x.to("cuda")) for x in loader]


def other(net, device=f"cuda:{os.environ['LOCAL_RANK']}"):
    # trap: a device of the rank, by its number
    return DistributedDataParallel(net.to(device))
