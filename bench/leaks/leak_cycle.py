import gc

import torch
from torch import nn

gc.disable()


class Node:
    def __init__(self, value):
        self.value = value
        self.me = None


model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    node = Node(output)
    node.me = node  # leak: line
