# clean
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

buffer = []
for step in range(200):
    batch = torch.randn(64, 32)
    buffer.append(batch)
    if len(buffer) > 80:
        buffer.pop(0)
    loss = model(buffer[step % len(buffer)]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
