import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from places import setup_place


def begin(rank, size):
    dist.init_process_group("nccl", rank=rank, world_size=size)


def noise(shape, place):
    return torch.randn(shape, device=place)


def work(local_rank, size, net):
    begin(local_rank, size)
    # Another file may choose the device of this rank.
    setup_place(local_rank)
    fixed = noise((4, 64), "cuda")
    net = DDP(net.to(local_rank), device_ids=[local_rank])
    return net(fixed)


def other(local_rank, size, net):
    begin(local_rank, size)
    fixed = noise((4, 64), "cuda")  # expect: PLM082
    net = DDP(net.to(local_rank), device_ids=[local_rank])
    return net(fixed)
