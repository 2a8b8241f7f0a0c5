import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}
        self.project = nn.Linear(32, 32)

    def forward(self, x, step):
        if step not in self.cache:
            self.cache[step] = torch.outer(torch.arange(16.0), torch.arange(32.0) + step)  # leak: line
        return self.project(x + self.cache[step])


model = Positions()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(120):
    loss = model(torch.randn(16, 32), step).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
