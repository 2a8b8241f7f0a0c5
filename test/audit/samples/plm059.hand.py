from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel


class Worker:
    def build(self, config, policy):
        # trap: whoever calls it says how
        return FullyShardedDataParallel(config.make(), auto_wrap_policy=policy)


def each(parts):
    return [one(part) for part in parts]


def one(part):
    return part
