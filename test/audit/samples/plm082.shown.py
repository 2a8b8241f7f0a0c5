import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def begin(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)


def noise(shape, place):
    return torch.randn(shape, device=place)


def work(rank, size, net):
    # It counts them as well, and then shows each rank one of them.
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["CUDA_VISIBLE_DEVICES"].split(",")[rank]
    begin(rank, size)
    net = DDP(net.to("cuda"), device_ids=[0 * rank])
    return net(noise((4, 64), "cuda"))


def main(net):
    count = len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))
    mp.spawn(work, args=(count, net), nprocs=count)
