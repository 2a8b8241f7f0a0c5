from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, policy):
    # trap: said
    return FSDP(model, auto_wrap_policy=policy)
