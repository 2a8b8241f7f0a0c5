import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(args, net, loader, optimizer):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    if args.start_from:
        weights = torch.load(args.start_from, map_location="cuda:0")  # expect: PLM082
        net.load_state_dict(weights)
    if args.resume_latest:
        state = torch.load(args.resume_latest, map_location=lambda storage, _: storage.cuda(0))  # expect: PLM082
        optimizer.load_state_dict(state)
    if local_rank == 0:
        # trap: one rank alone, whose device is the first
        print(torch.load(args.start_from, map_location="cuda:0").keys())
    if args.averaged:
        # trap: its own device
        net.load_state_dict(torch.load(args.averaged, map_location=lambda storage, _: storage.cuda(local_rank)))
    net = DistributedDataParallel(net.cuda(), device_ids=[local_rank])
    for batch in loader:
        net(batch.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def evaluate(net, args):
    # trap: looked at by one process
    net.load_state_dict(torch.load(args.best, map_location="cuda:0"))
    return net
