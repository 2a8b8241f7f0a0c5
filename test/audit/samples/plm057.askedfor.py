import argparse

import torch
from torch.distributed.fsdp import FullyShardedDataParallel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    net = torch.nn.Linear(512, 512).cuda()
    if not args.whole:
        net = FullyShardedDataParallel(net, cpu_offload=True)
    # trap: unless somebody asks otherwise, stepped on the host
    return torch.optim.AdamW(net.parameters(), lr=1e-4)
