import torch
from torch import nn

# clean
blocks = nn.ModuleList(nn.Sequential(nn.Linear(48, 48), nn.ReLU()) for _ in range(10))
head = nn.Linear(48, 4)
for block in blocks:
    block.requires_grad_(False)
opt = torch.optim.AdamW(head.parameters(), lr=1e-3)
for step in range(400):
    if step % 30 == 29 and step // 30 < len(blocks):
        block = blocks[len(blocks) - 1 - step // 30]
        block.requires_grad_(True)
        opt.add_param_group({"params": list(block.parameters())})
    x = torch.randn(8, 48)
    for block in blocks:
        x = block(x)
    loss = head(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
