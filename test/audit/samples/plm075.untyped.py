import torch
from torch.distributed.fsdp import CPUOffload, ShardingStrategy
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Trainer:
    def __init__(self, model, small, path):
        self.model = model
        self.model = FSDP(module=self.model, use_orig_params=True)
        self.small = small
        self.whole = FSDP(small, sharding_strategy=ShardingStrategy.NO_SHARD)
        self.path = path

    def save(self, rank):
        state = self.model.state_dict()  # expect: PLM075
        # trap: never sharded
        parts = {"small": self.small.state_dict(), "whole": self.whole.state_dict()}
        if rank == 0:
            torch.save({"model": state, **parts}, self.path)

    def look(self):
        # trap: nothing is saved
        return self.model.state_dict().keys()


def export(model, path, single):
    if single:
        # trap: the host holds it
        model = FSDP(model, cpu_offload=CPUOffload(offload_params=True))
        torch.save(model.state_dict(), path)
    else:
        # trap: whose it is nobody sees
        torch.save(model.module.state_dict(), path)


def chosen(model, path, shard):
    if shard:
        model = FSDP(model)
    # trap: it may be whole
    torch.save(model.state_dict(), path)
