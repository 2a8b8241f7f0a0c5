import torch
from torch import nn

model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
predictions = []
for step in range(200):
    model.train()
    loss = model(torch.randn(16, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        model.eval()
        with torch.no_grad():
            for _ in range(3):
                predictions.append(model(torch.randn(16, 64)))  # leak: line
