# clean
import torch
from torch import nn


class Metrics:
    def __init__(self):
        self.outputs = []

    def add(self, output):
        self.outputs.append(output.detach())

    def reset(self):
        self.outputs = []


torch.manual_seed(0)
model = nn.Linear(32, 32)
optimizer = torch.optim.AdamW(model.parameters())
metrics = Metrics()
for step in range(240):
    output = model(torch.randn(16, 32))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    metrics.add(output)
    if step % 60 == 59:
        metrics.reset()
