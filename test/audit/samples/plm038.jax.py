import jax
import torch
from torch.utils.data import DataLoader

print(torch.cuda.is_available())


def batches(data, step):
    # trap: arrays, which nothing pins
    for batch in DataLoader(data, batch_size=None, collate_fn=None):
        jax.jit(step)(batch)
