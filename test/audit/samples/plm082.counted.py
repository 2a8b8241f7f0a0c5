import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def begin(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)


def noise(shape, place):
    return torch.randn(shape, device=place)


def table(shape, kind):
    print(kind)
    return torch.zeros(shape)


def work(rank, size, net):
    begin(rank, size)
    device = torch.device(rank)
    # Of what is handed a word, and makes nothing there.
    zeros = table((4, 64), "cuda")
    mine = noise((4, 64), device)
    fixed = noise((4, 64), "cuda")  # expect: PLM082
    net = DDP(net.to(device), device_ids=[rank])
    return net(mine), fixed, zeros


def main(net):
    gpus = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    print(f"on {os.environ['CUDA_VISIBLE_DEVICES']}")
    mp.spawn(work, args=(len(gpus), net), nprocs=len(gpus))
