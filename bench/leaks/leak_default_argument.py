import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def log(value, so_far=[]):
    so_far.append(value)  # leak: line
    return len(so_far)


for step in range(120):
    output = model(torch.randn(64, 32))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(output.detach())
