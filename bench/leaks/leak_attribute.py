import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(32, 32)
        self.memory = torch.zeros(32)

    def forward(self, x):
        hidden = torch.tanh(self.cell(x))
        self.memory = 0.5 * self.memory + hidden.mean(0)  # leak: line
        return hidden


model = Recurrent()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(120):
    loss = model(torch.randn(8, 32)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
