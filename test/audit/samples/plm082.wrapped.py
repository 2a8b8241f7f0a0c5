import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from nets import build, setup_ranks


def work(gpu, args):
    if args.distributed:
        dist.init_process_group("nccl", rank=gpu, world_size=args.world_size)
    net = build(args.arch).cuda()  # expect: PLM082
    if args.distributed:
        torch.cuda.set_device(gpu)
        net = DistributedDataParallel(net.cuda(gpu), device_ids=[gpu])
    return net


def chosen(gpu, args):
    if args.distributed:
        torch.cuda.set_device(gpu)
    # trap: each rank of several has chosen above
    net = build(args.arch).cuda()
    if args.distributed:
        torch.cuda.set_device(gpu)
        net = DistributedDataParallel(net, device_ids=[gpu])
    return net


def elsewhere(gpu, args):
    setup_ranks(gpu)
    # trap: what sets up the ranks may have chosen
    net = build(args.arch).cuda()
    if args.distributed:
        torch.cuda.set_device(gpu)
        net = DistributedDataParallel(net, device_ids=[gpu])
    return net


def single(gpu, args):
    # trap: one process, and its device is asked for below
    net = build(args.arch).cuda()
    if gpu is not None:
        torch.cuda.set_device(gpu)
    return net


def named(gpu, args):
    # trap: no more than a word, for whatever is chosen below
    device = torch.device("cuda")
    if args.distributed:
        torch.cuda.set_device(gpu)
        return DistributedDataParallel(build(args.arch).to(device), device_ids=[gpu])
    return build(args.arch).to(device)
