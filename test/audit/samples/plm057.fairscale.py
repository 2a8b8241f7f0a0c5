import torch
from fairscale.nn import FullyShardedDataParallel


def main(model):
    model = FullyShardedDataParallel(model.cuda())
    # trap: shards of another kind, stepped one by one
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
