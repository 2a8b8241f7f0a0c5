# clean
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)) for _ in range(3))
optimizer = torch.optim.AdamW(blocks.parameters())
for step in range(200):
    x = torch.randn(4 + (step * 5) % 29, 32)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    loss = x.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
