from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.fsdp import FullStateDictConfig


def configs(wanted):
    a = FullStateDictConfig(rank0_only=True)  # expect: PLM075
    b = FullStateDictConfig(offload_to_cpu=False)  # expect: PLM075
    c = StateDictOptions(full_state_dict=True)  # expect: PLM075
    # trap: on the host
    d = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
    # trap: decided elsewhere
    e = FullStateDictConfig(offload_to_cpu=wanted)
    # trap: for loading
    set_model_state_dict(None, {}, options=StateDictOptions(full_state_dict=True))
    # trap: sharded
    f = StateDictOptions(full_state_dict=False)
    return a, b, c, d, e, f


def hand_over(model, engine, checkpointer, due):
    # trap: for another engine, on the device; saving it too costs nothing more
    gathered = {k: v.full_tensor() for k, v in model.state_dict().items()}
    engine.sync_weights(gathered)
    if due:
        checkpointer.save_checkpoint(gathered)


def keep(model, checkpointer):
    gathered = {k: v.full_tensor() for k, v in model.state_dict().items()}  # expect: PLM075
    checkpointer.save_checkpoint(gathered)
