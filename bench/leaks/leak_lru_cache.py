import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)  # leak: line
def mask(size, seed):
    return torch.rand(size, size, generator=torch.Generator().manual_seed(seed)) > 0.5


model = nn.Linear(32, 32)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(120):
    loss = (model(torch.randn(32, 32)) * mask(32, step)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
