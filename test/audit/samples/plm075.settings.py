import torch
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType


def on_the_device(net, path):
    how = dict(rank0_only=True)
    config = FullStateDictConfig(**how)  # expect: PLM075
    with FullyShardedDataParallel.state_dict_type(net, StateDictType.FULL_STATE_DICT, config):
        torch.save(net.state_dict(), path)


def on_the_host(net, path):
    how = dict(rank0_only=True)
    how["offload_to_cpu"] = True
    # trap: said in the dict
    config = FullStateDictConfig(**how)
    with FullyShardedDataParallel.state_dict_type(net, StateDictType.FULL_STATE_DICT, config):
        torch.save(net.state_dict(), path)


def as_told(net, path, how):
    # trap: who knows what is in there
    config = FullStateDictConfig(**how)
    with FullyShardedDataParallel.state_dict_type(net, StateDictType.FULL_STATE_DICT, config):
        torch.save(net.state_dict(), path)
