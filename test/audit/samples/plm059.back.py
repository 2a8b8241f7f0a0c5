from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def shard(model, encoder):
    # trap: a part, which goes back into the whole
    model.encoder = FSDP(encoder.cuda())
    return FSDP(model.cuda())
