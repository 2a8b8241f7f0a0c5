import torch
from torch.distributed.fsdp import FullStateDictConfig, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def save(model, path, rank):
    with FSDP.state_dict_type(module=model, state_dict_type=StateDictType.FULL_STATE_DICT, state_dict_config=None):  # likely: PLM075
        state = model.state_dict()
    if rank == 0:
        torch.save(state, path)


def resume(model, path):
    # trap: to load, each rank wants what it is given
    with FSDP.state_dict_type(module=model, state_dict_type=StateDictType.FULL_STATE_DICT, state_dict_config=None):
        model.load_state_dict(torch.load(path))


def save_parts(model, path):
    # trap: every rank its own part
    with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
        torch.save(model.state_dict(), path)
