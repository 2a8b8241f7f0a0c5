import torch
from torch import nn


def windows(values):
    while True:
        yield values.mean()
        values = values + 1


model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
pending = []
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    stream = windows(output.detach())
    next(stream)
    pending.append(stream)  # leak: line
