import queue

import torch
from torch import nn

to_write = queue.Queue()
model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    to_write.put((step, output.detach().clone()))  # leak: line
