import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def resume(model, path):
    # trap: PLM049 tells of what is loaded onto the device it was saved from
    model.load_state_dict(torch.load(path))
    # trap: on the host
    state = torch.load(path, map_location="cpu")
    # trap: no weights, but numbers
    stats = torch.load("stats.pt")
    return state, stats


def evaluate(model, path):
    # trap: by one process alone
    model.load_state_dict(torch.load(path))


def main(rank, model, path):
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)
    resume(model, path)
    return DistributedDataParallel(model.cuda(), device_ids=[rank])
