import torch
import torch.distributed as dist


def make_ballast(many):
    return torch.ones(many).cuda()


def make_load(many):
    return torch.ones(many)


def make_cargo(many, spare):
    if spare:
        return torch.ones(many)
    return torch.ones(many).cuda()


BALLAST = make_ballast(16)  # expect: PLM082
# On the host, and on the host for all that is known.
LOAD = make_load(16)
CARGO = make_cargo(16, True)


def sail(rank, world_size, net, loader):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.cuda.set_device(rank)
    # The rank has chosen.
    keel = make_ballast(4)
    net = torch.nn.parallel.DistributedDataParallel(net.cuda(), device_ids=[rank])
    for load in loader:
        (net(load.cuda()) * BALLAST + keel.sum()).mean().backward()
