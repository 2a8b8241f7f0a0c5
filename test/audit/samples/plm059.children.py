from torch.distributed.fsdp import fully_shard


def shard(model, wanted):
    for child in model.children():
        shard(child, wanted)
    # trap: for each module of the tree
    if model in wanted:
        fully_shard(model)
