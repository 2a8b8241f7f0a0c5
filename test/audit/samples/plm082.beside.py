import os

import torch
import torch.distributed as dist

if "WORLD_SIZE" in os.environ:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")

# trap: where there are several ranks, each has chosen
x = torch.randn(8, 8, device="cuda")


def main():
    return torch.zeros(8, device="cuda:0")  # expect: PLM082
