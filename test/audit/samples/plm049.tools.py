import io
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def gather(tensor):
    buffer = io.BytesIO(tensor.cpu().numpy())
    # trap: a message from another rank
    return torch.load(buffer)


def corpus(path):
    # trap: data, made on the host
    return torch.load(os.path.join(path, "corpus.pt"))


def main(rank, net, path):
    dist.init_process_group("nccl")
    net = DDP(net.cuda(), device_ids=[rank])
    if rank == 0:
        print(torch.load(path).keys())  # expect: PLM049
    # trap: mapped
    extra = torch.load(path, map_location="cpu")
    net.load_state_dict(torch.load(path))  # expect: PLM049
    return extra
