# clean
import torch
from torch import nn

torch.manual_seed(0)
model = nn.LSTM(16, 32)
optimizer = torch.optim.AdamW(model.parameters())
state = None
for step in range(150):
    output, state = model(torch.randn(10, 4, 16), state)
    state = tuple(part.detach() for part in state)
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
