from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model):
    # trap: units made by hand
    for at, block in enumerate(model.blocks):
        model.blocks[at] = FSDP(block)
    return FSDP(model)
