# clean
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = {}
        self.project = nn.Linear(32, 32)

    def forward(self, x):
        length = x.shape[0]
        if length not in self.tables:
            self.tables[length] = torch.outer(torch.arange(float(length)), torch.ones(32)).cos()
        return self.project(x * self.tables[length])


torch.manual_seed(0)
model = Rotary()
optimizer = torch.optim.AdamW(model.parameters())
# Lengths come back: the cache fills up, then stays.
for step in range(300):
    length = 8 * int(torch.randint(1, 12, (1,)))
    loss = model(torch.randn(length, 32)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
