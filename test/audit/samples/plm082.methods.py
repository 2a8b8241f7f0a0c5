import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Early:
    def __init__(self, net, rank):
        self.net = net.cuda()  # expect: PLM082
        self.choose(rank)

    def choose(self, rank):
        torch.cuda.set_device(rank)
        dist.init_process_group("nccl")
        self.net = DistributedDataParallel(self.net, device_ids=[rank])


class Late:
    def __init__(self, net, rank):
        self.choose(rank)
        # trap: it has chosen
        self.net = net.cuda()

    def choose(self, rank):
        torch.cuda.set_device(rank)


class Asked:
    def __init__(self, net, rank):
        # trap: nobody knows whether it chooses
        self.net = net.to(rank)
        if rank > 0:
            self.choose(rank)

    def choose(self, rank):
        torch.cuda.set_device(rank)
