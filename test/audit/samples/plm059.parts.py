from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def shard_block(model):
    return FSDP(model, device_id=0)


def shard(model):
    model.encoder = shard_block(model.encoder)
    # trap: a unit of its own has been made of a part
    return FSDP(model, device_id=0)


def main(model):
    model = shard(model)
    return model
