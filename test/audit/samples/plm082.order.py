import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def set_up(rank, world):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)


def load_early():
    return torch.nn.Linear(64, 8).cuda()  # expect: PLM082


def load_late():
    # trap: the rank has chosen
    return torch.nn.Linear(64, 8).cuda()


def work(rank, world):
    net = load_early()
    set_up(rank, world)
    return DistributedDataParallel(net.to(rank), device_ids=[rank])


def work_late(rank, world):
    set_up(rank, world)
    net = load_late()
    return DistributedDataParallel(net, device_ids=[rank])


def work_again(rank, world):
    torch.cuda.set_device(rank)
    # trap: chosen above, and once more below
    net = torch.nn.Linear(64, 8).cuda()
    set_up(rank, world)
    return DistributedDataParallel(net, device_ids=[rank])
