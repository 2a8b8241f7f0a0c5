import torch
from torch.distributed.fsdp import FullStateDictConfig, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def build(model):
    if torch.distributed.get_world_size() == 1:
        # trap: nothing is sharded
        FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig())


def save_lora(model, path):
    found = {}
    for name, part in model.named_children():
        # trap: one part after the other
        with FSDP.summon_full_params(part):
            found[name] = part.state_dict()
    torch.save(found, path)


def sync(model, engine):
    # trap: it goes to the engine, where it is wanted
    with FSDP.summon_full_params(model):
        engine.update(model.state_dict())


def save(model, path):
    with FSDP.summon_full_params(model):  # expect: PLM075
        torch.save(model.state_dict(), path)
