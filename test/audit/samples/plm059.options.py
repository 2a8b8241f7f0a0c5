from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, options):
    # trap: may be in the options
    return FSDP(model, **options)
