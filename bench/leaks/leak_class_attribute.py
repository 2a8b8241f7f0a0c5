import torch
from torch import nn


class Meter:
    values = []

    def update(self, value):
        self.values.append(value)  # leak: line


model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
meter = Meter()
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(output)
