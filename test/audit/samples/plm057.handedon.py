import torch
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

from sharding import shard


def prepare(net, offload_to_cpu: bool = False):
    net = checkpoint_wrapper(net, offload_to_cpu=offload_to_cpu)
    # the same switch moves the parameters as well
    return shard(net, host=offload_to_cpu)


def main(net):
    net = prepare(net.cuda(), True)
    # trap: stepped on the host
    return torch.optim.AdamW(net.parameters(), lr=1e-4)
