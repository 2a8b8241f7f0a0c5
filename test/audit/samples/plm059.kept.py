from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision


def prepare(pieces, device):
    shard = partial(FullyShardedDataParallel, device_id=device, mixed_precision=MixedPrecision())  # likely: PLM059
    return shard(pieces)
