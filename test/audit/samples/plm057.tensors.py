import torch
from torch.distributed.fsdp import fully_shard


def main(model):
    fully_shard(model.cuda())
    # trap: by default these are stepped one by one
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
