import torch
from torch import nn


class Episode:
    def __init__(self, output, before):
        self.output = output
        self.before = before


model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
last = None
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    last = Episode(output.detach(), last)  # leak: line
