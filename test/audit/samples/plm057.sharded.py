import torch
from torch.distributed.fsdp import FullStateDictConfig
from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel as FSDP


def main(model, policy):
    model = FSDP(model.cuda(), auto_wrap_policy=policy, cpu_offload=None)
    # What is saved goes to the host, not what is stepped.
    saved = FullStateDictConfig(rank0_only=True, offload_to_cpu=True)
    return torch.optim.AdamW(model.parameters(), lr=1e-4), saved  # expect: PLM057
