from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(policy, reference_model, **shared):
    policy = FSDP(policy, device_id=0)  # expect: PLM059
    # trap: more may be said
    reference_model = FSDP(reference_model, **shared)
    return policy, reference_model
