import argparse
from functools import partial

import torch
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import FullyShardedDataParallel


def recompute(net, blocks, offload_to_cpu: bool = False):
    """Recompute blocks; with offload_to_cpu their inputs wait on the host."""
    wrap = partial(checkpoint_wrapper, offload_to_cpu=offload_to_cpu)
    for at, block in enumerate(blocks):
        blocks[at] = wrap(block)
    return net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sharded", action="store_true")
    args = parser.parse_args()
    net = torch.nn.Linear(512, 512).cuda()
    if args.sharded:
        net = FullyShardedDataParallel(net, cpu_offload=True)
    return torch.optim.AdamW(net.parameters(), lr=1e-4)  # expect: PLM057
